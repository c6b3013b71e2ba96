"""A model behind an OpenAI-compatible endpoint, asked about answers that rules leave open."""
