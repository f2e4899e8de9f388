"""What to buy next: one file per kind of selector."""
