"""The funnel of instructions: listed, matched a prompt, fired, followed.

Rules, in the order they are applied:

1. *Listed*: what the exposure ledger says was in force, and what the transcript itself lists
   (`listing`). A skill that was loaded without standing in any list was in force too. What waits
   in a folder counts once a call has been there.
2. *Matched*: a prompt, or a command, names it, or one sentence of a prompt shares two distinctive
   words with its name and description (`matching`). Without a description only a naming can show.
3. *Fired*: a skill was loaded (`loading`), a tool of a server was called, a reply or thought names
   an instruction file or rule, or says eight words in a row of it (`citing`).
4. *Followed*: a command in the code blocks of the loaded text was run afterwards (`following`), or
   a call to the server went well.

None means that it cannot be known: descriptions, texts and thoughts are not always recorded.
"""

from hansei.projection.funnel.fold import funnel
from hansei.projection.funnel.idle import idle_names, idle_subject
from hansei.projection.funnel.model import Sum, Use
from hansei.projection.funnel.sums import summed, text_of

__all__ = ["Sum", "Use", "funnel", "idle_names", "idle_subject", "summed", "text_of"]
