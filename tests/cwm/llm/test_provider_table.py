import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from cwm.llm.provider_table import KEY_VARIABLES, PROVIDERS

FOLDER = Path(__file__).resolve().parents[3] / "cwm" / "llm" / "providers"


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_a_row_names_a_module_that_opens_its_provider(name: str) -> None:
    assert PROVIDERS[name].form.startswith(f"{name}:")
    assert callable(importlib.import_module(PROVIDERS[name].module).opened)


def test_every_key_of_a_row_is_kept_out_of_game_processes() -> None:
    assert set(KEY_VARIABLES) == {key for row in PROVIDERS.values() for key in row.keys}
    assert {"OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"} <= set(KEY_VARIABLES)


def test_the_factory_alone_reads_the_environment_so_that_no_provider_has_a_key_that_no_row_names() -> None:
    readers = [
        path.name for path in FOLDER.glob("*.py") if "os.environ" in path.read_text() or "getenv" in path.read_text()
    ]
    assert readers == ["factory.py"]


def test_the_table_and_the_factory_load_no_client_library() -> None:
    code = "import sys, cwm.llm.providers.factory; print({'openai', 'google.genai'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
