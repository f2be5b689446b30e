from . import data as data
from . import hooks as hooks

# Imported when first used:
from . import benchmark as benchmark  # not in __all__
from . import checkpoint as checkpoint  # not in __all__
from . import mobile_optimizer as mobile_optimizer  # not in __all__
from . import model_zoo as model_zoo  # not in __all__
