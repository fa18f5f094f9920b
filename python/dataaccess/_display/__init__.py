"""How results look: text for terminals, HTML for notebooks. Knows no class of this package, only plain values."""
