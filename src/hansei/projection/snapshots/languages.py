"""Which language a file is in, whether it holds tests, and what to ask its syntax tree.

A query names what it captures: `function`, `class`, `method`, `import`, `test`. A language without
one has its lines counted and nothing else.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final, NamedTuple


class Grammar(NamedTuple):
    """Where a grammar comes from, and the query to run on what it parses."""

    module: str
    function: str
    query: str


_ENDINGS: Final = {
    "python": ".py .pyi .pyw",
    "javascript": ".js .jsx .mjs .cjs",
    "typescript": ".ts .mts .cts",
    "tsx": ".tsx",
    "go": ".go",
    "rust": ".rs",
    "java": ".java",
    "ruby": ".rb .rake",
    "php": ".php",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .hpp .hh .hxx",
    "csharp": ".cs",
    "kotlin": ".kt .kts",
    "swift": ".swift",
    "scala": ".scala",
    "shell": ".sh .bash .zsh",
    "powershell": ".ps1 .psm1",
    "sql": ".sql",
    "html": ".html .htm",
    "css": ".css .scss .sass .less",
    "vue": ".vue",
    "svelte": ".svelte",
    "markdown": ".md .mdx .markdown",
    "restructuredtext": ".rst",
    "json": ".json .jsonc .jsonl",
    "yaml": ".yml .yaml",
    "toml": ".toml",
    "xml": ".xml",
    "text": ".txt",
}
LANGUAGES: Final = frozenset(_ENDINGS)
_BY_ENDING: Final = {end: name for name, ends in _ENDINGS.items() for end in ends.split()}
_BY_NAME: Final = {
    "Makefile": "make",
    "Dockerfile": "docker",
    "Gemfile": "ruby",
    "Rakefile": "ruby",
}
_TEST_PATH: Final = re.compile(
    r"(?:^|/)(?:tests?|__tests__|spec|src/test)/|(?:^|/)test_[^/]+\.py$|_test\.(?:py|go|rb|exs?)$"
    r"|[._-](?:test|spec)\.[a-z]+$|(?:Tests?|Spec)\.(?:java|kt|cs|swift|scala)$"
)

_SCRIPT: Final = """
(function_declaration name: (identifier) @function)
(generator_function_declaration name: (identifier) @function)
(class_declaration name: (_) @class)
(method_definition name: (_) @method)
(variable_declarator name: (identifier) @function value: [(arrow_function) (function_expression)])
(import_statement source: (string) @import)
((call_expression function: (identifier) @_asked arguments: (arguments . (string) @import))
 (#eq? @_asked "require"))
((call_expression function: (identifier) @_asked arguments: (arguments . (string) @test))
 (#any-of? @_asked "it" "test"))
"""
_TYPED: Final = f"""{_SCRIPT}
(interface_declaration name: (_) @class)
(type_alias_declaration name: (_) @class)
(enum_declaration name: (_) @class)
"""
_C: Final = """
(function_definition declarator: (function_declarator declarator: (identifier) @function))
(struct_specifier name: (_) @class body: (_))
(preproc_include path: (_) @import)
"""

GRAMMARS: Final = {
    "python": Grammar(
        "tree_sitter_python",
        "language",
        """
(class_definition name: (identifier) @class)
(function_definition name: (identifier) @function)
((function_definition name: (identifier) @test) (#match? @test "^test"))
(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @import)
""",
    ),
    "javascript": Grammar("tree_sitter_javascript", "language", _SCRIPT),
    "typescript": Grammar("tree_sitter_typescript", "language_typescript", _TYPED),
    "tsx": Grammar("tree_sitter_typescript", "language_tsx", _TYPED),
    "go": Grammar(
        "tree_sitter_go",
        "language",
        """
(function_declaration name: (identifier) @function)
((function_declaration name: (identifier) @test) (#match? @test "^(Test|Fuzz|Benchmark)"))
(method_declaration name: (_) @method)
(type_spec name: (_) @class)
(import_spec path: (_) @import)
""",
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        "language",
        """
(function_item name: (identifier) @function)
(struct_item name: (_) @class)
(enum_item name: (_) @class)
(trait_item name: (_) @class)
(use_declaration argument: (_) @import)
((attribute_item (attribute (identifier) @_mark)) . (function_item name: (identifier) @test)
 (#eq? @_mark "test"))
""",
    ),
    "java": Grammar(
        "tree_sitter_java",
        "language",
        """
(class_declaration name: (_) @class)
(interface_declaration name: (_) @class)
(enum_declaration name: (_) @class)
(record_declaration name: (_) @class)
(method_declaration name: (_) @method)
(import_declaration (scoped_identifier) @import)
((method_declaration (modifiers (marker_annotation name: (identifier) @_mark)) name: (_) @test)
 (#match? @_mark "Test$"))
""",
    ),
    "ruby": Grammar(
        "tree_sitter_ruby",
        "language",
        """
(class name: (_) @class)
(module name: (_) @class)
(method name: (_) @method)
((method name: (identifier) @test) (#match? @test "^test_"))
((call method: (identifier) @_asked arguments: (argument_list (string) @import))
 (#any-of? @_asked "require" "require_relative"))
((call method: (identifier) @_asked arguments: (argument_list (string) @test))
 (#eq? @_asked "it"))
""",
    ),
    "php": Grammar(
        "tree_sitter_php",
        "language_php",
        """
(function_definition name: (_) @function)
(class_declaration name: (_) @class)
(interface_declaration name: (_) @class)
(method_declaration name: (_) @method)
((method_declaration name: (_) @test) (#match? @test "^test"))
(namespace_use_clause (qualified_name) @import)
""",
    ),
    "c": Grammar("tree_sitter_c", "language", _C),
    "cpp": Grammar(
        "tree_sitter_cpp",
        "language",
        f"""{_C}
(class_specifier name: (_) @class body: (_))
(function_definition declarator: (function_declarator declarator: (qualified_identifier) @method))
""",
    ),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        "language",
        """
(class_declaration name: (_) @class)
(interface_declaration name: (_) @class)
(record_declaration name: (_) @class)
(struct_declaration name: (_) @class)
(method_declaration name: (_) @method)
(using_directive [(qualified_name) (identifier)] @import)
((method_declaration (attribute_list (attribute name: (_) @_mark)) name: (_) @test)
 (#any-of? @_mark "Fact" "Theory" "Test" "TestMethod" "TestCase"))
""",
    ),
}


def language_of(path: str) -> str | None:
    """The language of a file by its name; None if the name does not say."""
    name = posixpath.basename(path)
    return _BY_NAME.get(name) or _BY_ENDING.get(posixpath.splitext(name)[1].lower())


def holds_tests(path: str) -> bool:
    """Whether a file lies or is named where tests are."""
    return _TEST_PATH.search(path) is not None
