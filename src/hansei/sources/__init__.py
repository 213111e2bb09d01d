"""Sources turn what agents leave on disk into events; one file per agent."""
