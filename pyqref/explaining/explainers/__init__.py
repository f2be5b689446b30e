"""An explainer for each kind of operation; importing a module registers those in it."""

from . import activations as activations
from . import elementwise as elementwise
from . import grids as grids
from . import moves as moves
from . import weighted as weighted
from . import windows as windows
