from .portable import linear as linear
from .portable import linear_dynamic as linear_dynamic
