"""Would `terraform fmt` leave the files alone?"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unit.iac.generate.test_requested import WHOLE

from a2a_fn.iac.generate import generate

TERRAFORM = shutil.which("terraform")


@pytest.mark.skipif(TERRAFORM is None, reason="terraform is not installed: fmt cannot be asked")
@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        "a VPC",
        "a bucket called logs-1",
        "a NAT gateway with two EIPs",
        "an ECS instance with a key pair, ssh from my office and a 100 GB data disk",
        "创建一个名为测试环境的VPC和一个加密的MySQL数据库",
        "un bucket OSS versionné",
    ],
)
def test_terraform_fmt_has_nothing_to_change(text: str, tmp_path: Path) -> None:
    for name, body in generate(text, format="terraform").files.items():
        (tmp_path / name).write_text(body, encoding="utf-8")
    done = subprocess.run(
        [str(TERRAFORM), "fmt", "-check", "-diff", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_three_files() -> None:
    assert list(generate("a VPC", format="terraform").files) == [
        "main.tf",
        "variables.tf",
        "outputs.tf",
    ]
