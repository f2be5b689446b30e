from .portable import conv as conv
from .portable import put_channels_last as put_channels_last
