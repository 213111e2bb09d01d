"""`hansei show`."""

from __future__ import annotations

import click

from hansei.cli import app, output


@click.command(short_help="Open one session, or one event of it.")
@click.argument("reference", metavar="SESSION[#EVENT]")
@click.option("--full", is_flag=True, help="Do not fold long texts.")
@click.option("--thoughts", is_flag=True, help="Show the model's thoughts too.")
@app.ingest_option
@app.json_option
def command(reference: str, full: bool, thoughts: bool, ingest: bool, as_json: bool) -> None:
    """Open a session as a timeline: prompts, replies, calls and how they ended, edits, tokens.

    \b
      hansei show 5f1c              a session, by any unambiguous beginning of its id
      hansei show 5f1c#112          one event of it in full, with the other half of its call
    """
    from hansei.cli.timeline import event_in_full, timeline
    from hansei.ops.show import show

    with app.up_to_date(app.config(), ingest=ingest) as store:
        shown = show(store, reference)
    if as_json:
        output.write_json(
            "show",
            {
                "session": shown.session,
                "children": shown.children,
                "events": [{"seq": seq, "event": event} for seq, event in shown.events],
            },
        )
    elif "#" in reference:
        output.page(line for found in shown.events for line in event_in_full(found))
    else:
        output.page(timeline(shown, full=full, thoughts=thoughts))
