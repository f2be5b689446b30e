from .portable import conv as conv
