import json

import pytest

from arena.training import training_log
from arena.training.training_log import TrainingLog


def test_lines_that_are_no_reports_are_left_out_and_the_others_kept(tmp_path):
    good = [{"steps": steps, "seed": 0} for steps in (4, 8, 12)]
    first, second, third = map(json.dumps, good)
    (tmp_path / training_log.FILE).write_text(f"{first}\n[1]\n{{}}\ncut off\n{second}\n{third}\n{third[:5]}")
    assert training_log.read(tmp_path) == good
    with TrainingLog(tmp_path, 8) as log:
        log.report([0], 12, [{"R": None}])
    assert training_log.read(tmp_path) == [*good[:2], {"steps": 12, "seed": 0, "R": None}]


def test_reports_are_never_lost_while_the_file_is_written_anew(tmp_path, monkeypatch):
    path = tmp_path / training_log.FILE
    path.write_text('{"steps": 4, "seed": 0}\n')

    def full(place, text):
        raise OSError(28, "No space left on device", str(place))

    monkeypatch.setattr(training_log, "write_whole", full)
    with pytest.raises(OSError, match="No space left"):
        TrainingLog(tmp_path, 4)
    assert training_log.read(tmp_path) == [{"steps": 4, "seed": 0}]
