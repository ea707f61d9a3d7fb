#!/usr/bin/env python3
"""Our tokenizers beside the packages: megabytes of English a second of one core. Prints, judges nothing.

    make tokenizers       or: tools/tokenizer_speed.py [--bin DIR] [--model FILE] [--text FILE] [--runs N]

The text is this course's documentation unless another is given. Measured are a model file of byte-level BPE
beside `tokenizers`, and a SentencePiece vocabulary of Gemma's shape (262,144 tokens, of which 165 are found in
the text as they are) beside `sentencepiece`: 8,000 of its pieces are learnt here from the same text, the rest
are words that occur nowhere. Sides take turns; each run encodes the whole text. Counted is the time on the core, so
that others who use the machine hardly show. Ours starts cold each time; the packages keep what they remember between
runs. Needs .venv (`make test` makes it).
"""
import argparse
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one core on each side
try:
    import gguf
    import sentencepiece
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
except ImportError as missing:
    sys.exit(f"tokenizer_speed: {missing}; make test installs it into .venv")

from lesson import machine

ROOT = Path(__file__).resolve().parents[1]
N_GEMMA, N_LEARNT, N_RUNS = 262144, 8000, 9
RUNS_OF = [("\n", 31), ("\t", 31), ("▁", 31)]
TAGS = "table caption thead tbody tfoot tr th td h1 h2 h3 h4 h5 h6 blockquote strong em b i u sub sup code".split()
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6


def gemma_like(text, path):
    """Writes the vocabulary as GGUF, and gives the package that learnt it."""
    user = [c * n for c, most in RUNS_OF for n in range(1 + (c == "▁"), most + 1)]
    user += [f"<{slash}{tag}>" for tag in TAGS for slash in ("", "/")]
    user += [f"<more{i}>" for i in range(165 - len(user))]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text.split("\n")), model_writer=model, model_type="bpe", vocab_size=N_LEARNT, byte_fallback=True,
        character_coverage=0.999, add_dummy_prefix=False, remove_extra_whitespaces=False, normalization_rule_name="identity",
        user_defined_symbols=user, minloglevel=2, num_threads=1)
    judge = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    ids, known = range(judge.vocab_size()), set(user)
    tokens = [judge.id_to_piece(i) for i in ids]
    kinds = [UNKNOWN if judge.is_unknown(i) else CONTROL if judge.is_control(i) else BYTE if judge.is_byte(i)
             else USER_DEFINED if tokens[i] in known else NORMAL for i in ids]
    tokens = [token.replace("▁", " ") if kind == USER_DEFINED else token for token, kind in zip(tokens, kinds)]
    n_more = N_GEMMA - len(tokens)
    writer = gguf.GGUFWriter(path, "gemma3")
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens + [f"▁zq{i:x}" for i in range(n_more)])
    writer.add_token_scores([judge.get_score(i) for i in ids] + [-1e6] * n_more)
    writer.add_token_types(kinds + [NORMAL] * n_more)
    writer.add_add_space_prefix(False)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return judge.encode


def bpe(path):
    fields = gguf.GGUFReader(path).fields
    if fields["tokenizer.ggml.pre"].contents() != "smollm":
        sys.exit(f"tokenizer_speed: {path}: give a file of the smollm family")
    tokens, merges = (fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "merges"))
    tokenizer = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, [tuple(m.split(" ")) for m in merges]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(r"\p{N}"), "isolated"), pre_tokenizers.Split(Regex(GPT2), "isolated"),
         pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def time_ours(bin_dir, model, text_path):
    run = subprocess.run([f"{bin_dir}/encode_speed", model, text_path, "1"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr.strip())
    n_ids, ns = map(int, run.stdout.split())
    return n_ids, ns / 1e9


def time_package(encode, text):
    start = time.process_time()
    n_ids = len(encode(text))
    return n_ids, time.process_time() - start


def compare(title, package, encode, options, model, text, text_path):
    sides = {"ours": lambda: time_ours(options.bin, model, text_path), package: lambda: time_package(encode, text)}
    rates, counts = {name: [] for name in sides}, {}
    n_bytes = len(text.encode())
    for _ in range(options.runs):
        for name, side in sides.items():
            counts[name], seconds = side()
            rates[name].append(n_bytes / seconds / 1e6)
    print(f"\n{title}: {n_bytes / 1e6:.2f} MB, {counts['ours']} tokens")
    for name, values in rates.items():
        print(f"  {name:14} {statistics.median(values):7.1f} MB/s   {min(values):.1f} to {max(values):.1f} in {len(values)} runs")
    if len(set(counts.values())) > 1:
        print(f"  NOT THE SAME TOKENS: {counts}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin", metavar="DIR")
    parser.add_argument("--model", default="models/SmolLM2-135M-Instruct.Q4_1.gguf", metavar="FILE")
    parser.add_argument("--text", metavar="FILE", help="UTF-8; the documentation if not given")
    parser.add_argument("--runs", type=int, default=N_RUNS, metavar="N")
    parser.add_argument("--flags", default="", help="of the compiler, for the heading")
    options = parser.parse_args()
    files = [Path(options.text)] if options.text else sorted((ROOT / "docs").rglob("*.md"))
    text = "".join(file.read_text() for file in files)
    print("\n".join(machine.describe(options.bin, options.model, options.flags)))
    with tempfile.TemporaryDirectory() as folder:
        text_path, spm_path = f"{folder}/text", f"{folder}/gemma-like.gguf"
        Path(text_path).write_text(text)
        compare("byte-level BPE, smollm", "tokenizers", bpe(options.model), options, options.model, text, text_path)
        compare("SentencePiece, Gemma-like", "sentencepiece", gemma_like(text, spm_path), options, spm_path, text, text_path)


if __name__ == "__main__":
    main()
