"""A causal language model of a million random numbers that reads bytes; nothing is downloaded."""

from typing import Any

CHAT = (
    "{% for message in messages %}{{ message['content'] }}"
    "{{ eos_token if message['role'] == 'assistant' else '\n' }}{% endfor %}"
)
"""Questions and answers as they are, one after the other; an answer ends, so that a model learns to stop."""


def byte_tokenizer() -> Any:
    """Returns a tokenizer with a token a byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {"<pad>": 0, "<eos>": 1} | {letter: number for number, letter in enumerate(alphabet, start=2)}
    made = Tokenizer(models.BPE(words, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="<eos>")
    tokenizer.chat_template = CHAT
    tokenizer.padding_side = "left"
    return tokenizer


def tiny_model(seed: int = 0) -> Any:
    """Returns the model, the same for the same seed."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    # So small a model gains nothing by threads, which wait for each other long where other programs run.
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=258,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=4096,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=1,
    )
    return LlamaForCausalLM(config)
