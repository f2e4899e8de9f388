"""What a score stands on: macro-F1 over money, and the safety nets under every result."""
