"""Where options of earlier versions went: said in place of a guess at what was meant."""

from __future__ import annotations

_SET = {"--alpha": "alpha", "--clusters": "clusters", "--omega": "omega", "--head-layers": "head-layers"}
_SET |= {"--label-sets": "label-sets", "--aggregation-interval": "aggregation-interval"}
_ENGINE = ("--dtype", "--solver", "--chunk", "--noise-source", "--shards", "--threads")

TRAIN = {
    "--sweep": "experiments have a command of their own: dpcert experiment NAME (dpcert experiment --help lists them)",
    "--schedule": "write it behind the rate: --learning-rate 0.1,halving:200",
    "--variant": "write the form into the algorithm's name: dpcert train dpfedmtl-clipped",
    "--finetune-strength": "write it into --finetune: --finetune KIND,strength=1",
    "--finetune-epochs": "write it into --finetune: --finetune KIND,epochs=5",
    **{option: f"write it as a setting of the algorithm: --set {key}=VALUE" for option, key in _SET.items()},
    **{option: f"write it as a setting of the engine: --engine {option[2:]}=VALUE" for option in _ENGINE},
    **dict.fromkeys(("--seeds", "--quick", "--out"), "it belongs to experiments: dpcert experiment NAME"),
    **dict.fromkeys(
        ("--tolerance", "--split-file", "--theta", "--loss", "--work", "--drop", "--sigma-prime", "--step-rule"),
        "it belongs to MOCHA, which has a command of its own: dpcert mocha METHOD",
    ),
}


def moved(command: str, option: str) -> str:
    """What to write instead of an option that the command had once; nothing for any other."""
    if command in ("train", "audit-training"):
        return TRAIN.get(option, "")
    return TRAIN["--sweep"] if (command, option) == ("mocha", "--sweep") else ""
