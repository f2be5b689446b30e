from .layout import contiguous as contiguous
from .layout import dense as dense
from .layout import images as images
from .layout import in_result_order as in_result_order
from .layout import laid_as as laid_as
from .layout import room_like as room_like
from .layout import side_by_side as side_by_side
from .layout import with_room as with_room
