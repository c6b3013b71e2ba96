"""The teacher of on-policy distillation: a frozen model in the place of the reference policy."""

from __future__ import annotations

from transformers import PreTrainedModel

from trainer_client.config.model_section import ModelConfig
from trainer_client.config.run_config import ConfigError
from trainer_client.policy.output_layer import check_output_layer
from trainer_client.policy.policy import Policy, load_policy


def load_teacher(path: str, config: ModelConfig, policy: Policy) -> PreTrainedModel:
    """The teacher, frozen, on the policy's device and in its type.

    Args:
        path: Hugging Face model name or folder, `loss.teacher`.
        config: section `model`, of the policy.
        policy: the policy, whose tokens the teacher has to know.

    Raises:
        ConfigError: the model cannot be loaded, or its tokens are others than the policy's.
    """
    plain = {"path": path, "lora": None, "quantization": None, "chat_template": None}
    try:
        teacher = load_policy(config.model_copy(update=plain))
    except ConfigError as error:
        raise ConfigError(f"loss.teacher: {error}") from error
    own, taught = teacher.tokenizer.get_vocab(), policy.tokenizer.get_vocab()
    if own != taught:
        differing = len(own.items() ^ taught.items())
        raise ConfigError(
            f"loss.teacher: {path!r} has another tokenizer than {config.path!r} ({differing} "
            "entries differ): its log-probabilities would be of other tokens"
        )
    check_output_layer(teacher.model)
    return teacher.model.requires_grad_(False)
