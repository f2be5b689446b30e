"""A script with eight faults, each of which a type checker tells."""

import pyqref as torch
from pyqref.quantization import prepare

x = torch.ones(2, 3)
x.unsqueze(0)  # fault: the method is called unsqueeze
torch.quantize_per_tensor(x, "0.1", 0, torch.quint8)  # fault: the scale is a string
prepare(3)  # fault: no module
prepare(torch.nn.Linear(3, 4)).foo()  # fault: no module has a method foo
torch.quantize_per_tensr(x, 0.1, 0, torch.quint8)  # fault: no such function
torch.zeros(2, 3, dtyp=torch.int8)  # fault: the option is called dtype
x.max(dim=1).mean()  # fault: along a dimension, the maximum is values and indices
torch.nn.Sequential(torch.nn.Linear(3, 4), "relu")  # fault: a name is no module
