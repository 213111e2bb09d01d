"""Every error hansei raises on purpose.

HanseiError                 message says what and which; hint says what to do next
├── UsageError              the request cannot be meant as written             exit 2
│   ├── ConfigError         config.toml does not say what we can use
│   └── NotFound            no such session, event, workspace, agent
├── SourceError             an agent's files                                   exit 3
│   ├── UnreadableTranscript
│   ├── UnusableSettings    an agent's settings cannot be changed as they are
│   ├── UnusableInstructions  an instruction file cannot be changed as it is
│   ├── UnusableSkill       a skill, or the file of one, cannot be used as it is
│   └── PluginError         a source from another package does not load
├── ProcessEnded            a process of ours was killed                       exit 1
├── GitError                git is missing, or refuses                         exit 1
├── NoSandbox               `hansei run --sandbox` found no way to make one    exit 125
├── NotStarted              `hansei run` found a command it cannot start       exit 126
│   └── NoSuchCommand       `hansei run` found no such command                 exit 127
└── StoreError              our own files                                      exit 4
    ├── StoreLocked         another hansei is writing and did not finish in time
    ├── StoreDamaged        the database or a sealed file cannot be read
    ├── StoreUnwritable     read-only folder, full disk
    └── NewerStore          written by a later hansei
"""


class HanseiError(Exception):
    """An expected failure: shown as message and hint, never as a traceback."""

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(HanseiError):
    exit_code = 2


class ConfigError(UsageError):
    pass


class NotFound(UsageError):
    pass


class SourceError(HanseiError):
    exit_code = 3


class UnreadableTranscript(SourceError):
    pass


class UnusableSettings(SourceError):
    pass


class UnusableInstructions(SourceError):
    pass


class UnusableSkill(SourceError):
    pass


class PluginError(SourceError):
    pass


class ProcessEnded(HanseiError):
    pass


class GitError(HanseiError):
    pass


class NoSandbox(HanseiError):
    exit_code = 125


class NotStarted(HanseiError):
    exit_code = 126


class NoSuchCommand(NotStarted):
    exit_code = 127


class StoreError(HanseiError):
    exit_code = 4


class StoreLocked(StoreError):
    pass


class StoreDamaged(StoreError):
    pass


class StoreUnwritable(StoreError):
    pass


class NewerStore(StoreError):
    pass
