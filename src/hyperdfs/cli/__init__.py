"""The command line: one file per command; heavy imports wait inside the commands."""
