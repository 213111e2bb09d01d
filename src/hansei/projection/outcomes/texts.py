"""Files in git as bags of lines and as phrases, each blob read and cleaned once.

The texts of events have had their secrets replaced, so the texts of git must have theirs replaced
by the same redactor before the two are compared.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from hansei.projection.outcomes.lines import bag, is_phrase, phrase, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from hansei.git.history import Change, Commit

MOST_BYTES: Final = 2 << 20
"""Larger files are generated or data; nobody's edits are looked for in them."""
MOST_KEPT: Final = 1_000
MOST_LINES: Final = 150_000
"""Lines in all that are kept at hand: about 30 MB."""
MOST_WORDS: Final = 10_000_000
"""Characters of texts and of phrases that are."""
_BINARY_WITHIN: Final = 8_000
"""How far git itself looks for a zero byte before it calls a file binary."""
_NOTHING: Final[Counter[str]] = Counter()
_MARGIN: Final = 30
"""Lines around a change in which a phrase may begin or end that the change completes."""

_Made = TypeVar("_Made")


class _Kept(Generic[_Made]):
    """What was asked for last, up to a size in all."""

    def __init__(self, most: int, size: Callable[[_Made], int]) -> None:
        self._most = most
        self._measure = size
        self._size = 0
        self._made: OrderedDict[Hashable, _Made] = OrderedDict()

    def get(self, name: Hashable, make: Callable[[], _Made]) -> _Made:
        if name in self._made:
            self._made.move_to_end(name)
            return self._made[name]
        made = self._made[name] = make()
        self._size += self._measure(made)
        while len(self._made) > 1 and (self._size > self._most or len(self._made) > MOST_KEPT):
            self._size -= self._measure(self._made.popitem(last=False)[1])
        return made


class Difference(NamedTuple):
    """The telling lines that a file has more often, and less often, after a change."""

    added: Counter[str]
    removed: Counter[str]

    @property
    def size(self) -> int:
        return len(self.added) + len(self.removed)


class Windows(NamedTuple):
    """The words around a change, before and after it."""

    before: str
    after: str

    @property
    def size(self) -> int:
        return len(self.before) + len(self.after)


class Texts:
    """What the blobs of one repository hold; `read` gives bytes, or None if they are not here."""

    def __init__(
        self, read: Callable[[str, int], bytes | None], scrub: Callable[[str], str]
    ) -> None:
        self._read = read
        self._scrub = scrub
        self._texts = _Kept[str](MOST_WORDS, len)
        self._bags = _Kept[Counter[str]](MOST_LINES, len)
        self._phrases = _Kept[str](MOST_WORDS, len)
        self._differences = _Kept[Difference](MOST_LINES, lambda it: it.size)
        self._windows = _Kept[Windows](MOST_WORDS, lambda it: it.size)
        self._taking_in: tuple[str, str, dict[str, list[Change]]] | None = None
        self.lost: set[str] = set()
        """Blobs that could not be read: not here, or too large."""

    def taking_in(self, commit: Commit, ending: str, most: int) -> Mapping[str, list[Change]]:
        """The changes of a commit to files of a kind by the lines they bring; only some of many."""
        if self._taking_in is None or self._taking_in[:2] != (commit.id, ending):
            found: dict[str, list[Change]] = defaultdict(list)
            for change in [it for it in commit.changes if it.path.endswith(ending)][:most]:
                for line in self.added(change):
                    found[line].append(change)
            self._taking_in = commit.id, ending, found
        return self._taking_in[2]

    def text(self, blob: str | None) -> str:
        """What a blob holds, without its secrets; empty if it is binary or not here."""
        return "" if blob is None else self._texts.get(blob, lambda: self._clean(blob))

    def bag(self, blob: str | None) -> Counter[str]:
        """The telling lines of a blob."""
        return _NOTHING if blob is None else self._bags.get(blob, lambda: bag(self.text(blob)))

    def phrase(self, blob: str | None) -> str:
        """The words and signs of a blob."""
        return "" if blob is None else self._phrases.get(blob, lambda: phrase(self.text(blob)))

    def holds(self, blob: str | None, line: str) -> bool:
        """Whether a blob has a line, in this layout or in another."""
        words = words_of(line)
        return line in self.bag(blob) or (is_phrase(words) and words in self.phrase(blob))

    def before(self, change: Change, line: str) -> bool:
        """Whether a line was there before a change; of a merge, on either side."""
        return any(line in self.bag(blob) for blob in change.before)

    def added(self, change: Change) -> Counter[str]:
        """The lines that a change brings; one that only moved within the file is none.

        Of a merge, those that no side had.
        """
        sides = [self._difference(it, change.after).added for it in change.before or (None,)]
        found = sides[0]
        for side in sides[1:]:
            found = found & side
        return found

    def removed(self, change: Change) -> Counter[str]:
        """The lines that are fewer after a change; of a merge, than on some side."""
        sides = [self._difference(it, change.after).removed for it in change.before or (None,)]
        found = sides[0]
        for side in sides[1:]:
            found = found | side
        return found

    def phrases_more(self, change: Change, words: str) -> int:
        """How much more often a phrase stands in the file after a change than before."""
        sides = (self._around(it, change.after) for it in change.before or (None,))
        return min(side.after.count(words) - side.before.count(words) for side in sides)

    def phrases_before(self, change: Change, words: str) -> int:
        """How often a phrase stood in the file before a change."""
        return max((self.phrase(blob).count(words) for blob in change.before), default=0)

    def _difference(self, before: str | None, after: str | None) -> Difference:
        def make() -> Difference:
            # What both have at their beginning and end cancels out.
            old, new = map(bag, _where_unlike(self.text(before), self.text(after)))
            return Difference(new - old, old - new)

        return self._differences.get((before, after), make)

    def _around(self, before: str | None, after: str | None) -> Windows:
        def make() -> Windows:
            old, new = _where_unlike(self.text(before), self.text(after), _MARGIN)
            return Windows(phrase(old), phrase(new))

        return self._windows.get((before, after), make)

    def _clean(self, blob: str) -> str:
        data = self._read(blob, MOST_BYTES)
        if data is None:
            self.lost.add(blob)
            return ""
        if b"\0" in data[:_BINARY_WITHIN]:
            return ""
        return self._scrub(data.decode("utf-8", "replace"))


def _where_unlike(old: str, new: str, margin: int = 0) -> tuple[str, str]:
    """Two texts without the lines that both begin and end with, but for some of these."""
    start = _same_start(old, new)
    for _ in range(margin + 1):
        start = old.rfind("\n", 0, max(start - 1, 0)) + 1 if start else 0
    old, new = old[start:], new[start:]
    end = len(old) - _same_end(old, new)
    for _ in range(margin + 1):
        end = old.find("\n", end) + 1 or len(old) + 1
    cut = len(old) + 1 - end
    return old[: len(old) - cut], new[: len(new) - cut]


def _same_start(old: str, new: str) -> int:
    """How many characters two texts have in common at their beginning."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[low:middle] == new[low:middle] else (low, middle - 1)
    return low


def _same_end(old: str, new: str) -> int:
    """The same at their end."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        same = old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
        low, high = (middle, high) if same else (low, middle - 1)
    return low
