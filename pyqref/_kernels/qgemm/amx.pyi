from .portable import linear as linear
