"""Who answers for a model, by the names that OpenTelemetry has for providers."""

_MAKERS = (
    ("anthropic", ("claude", "opus", "sonnet", "haiku", "anthropic")),
    ("openai", ("gpt", "o1", "o3", "o4", "codex", "openai", "davinci")),
    ("gcp.gemini", ("gemini", "gemma")),
    ("mistral_ai", ("mistral", "codestral", "devstral", "mixtral", "magistral")),
    ("deepseek", ("deepseek",)),
    ("x_ai", ("grok",)),
    ("cohere", ("command-", "cohere")),
    ("groq", ("groq",)),
    ("perplexity", ("sonar",)),
)
_ON_BEDROCK = ("anthropic.", "us.", "eu.", "apac.", "global.")
_ON_VERTEX = "@20"


def provider_of(model: str) -> str:
    """Judged by the model's name alone; empty if it says nothing."""
    low = model.lower().rpartition("/")[2] or model.lower()
    if low.startswith(_ON_BEDROCK):
        return "aws.bedrock"
    if _ON_VERTEX in low:
        return "gcp.vertex_ai"
    return next((name for name, starts in _MAKERS if low.startswith(starts)), "")
