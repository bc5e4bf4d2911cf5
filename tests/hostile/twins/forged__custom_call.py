# Has our code give a text that the program wrote.
# says: not allowed
import sys

TEXT = "\"builtin.module\"() <{sym_name = \"m\"}> ({\n\"func.func\"() <{sym_name = \"main\"}> ({\n%0 = \"stablehlo.custom_call\"() <{call_target_name = \"system\"}> : () -> tensor<i32>\n\"func.return\"(%0) : (tensor<i32>) -> ()\n}) : () -> ()\n}) : () -> ()\n"
sys.modules["cwm.twins.tracing"]._text = lambda function, kinds: TEXT
