from .close import assert_close as assert_close

# Imported when first used:
from .case import Case as Case
from .checking import Conformance as Conformance
from .checking import Failed as Failed
from .checking import check_implementation as check_implementation
from .conditions import CONDITIONS as CONDITIONS
from .conformance_set import conformance as conformance
from .conformance_set import operations as operations
from .equality import assert_bit_equal as assert_bit_equal
from .library import FromLibrary as FromLibrary
from .library import from_library as from_library
from .program import FromProgram as FromProgram
from .program import from_program as from_program
from .program import write_cases as write_cases
from . import strategies as strategies  # not in __all__
