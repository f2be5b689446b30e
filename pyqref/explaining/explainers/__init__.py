"""An explainer for each kind of operation; importing a module registers those in it."""

from . import activations as activations
from . import dynamic as dynamic
from . import elementwise as elementwise
from . import embedding as embedding
from . import fake as fake
from . import fused as fused
from . import grids as grids
from . import moves as moves
from . import norms as norms
from . import observers as observers
from . import recurrent as recurrent
from . import sums as sums
from . import weighted as weighted
from . import windows as windows
