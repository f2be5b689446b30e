"""The functions of :mod:`.tensors`, compiled: see there what they do.

A small operation is done sooner than its result is wrapped by Python.
"""

cimport numpy as cnp
from cpython.ref cimport PyObject

from pyqref._kernels.tensors import TensorSlots

cdef extern from *:
    """
    #include <structmember.h>
    #ifdef _MSC_VER
    #define PYQREF_EACH_THREAD __declspec(thread)
    #else
    #define PYQREF_EACH_THREAD __thread
    #endif
    static PYQREF_EACH_THREAD int pyqref_is_off;

    /* A slot of a class of Python lies at a fixed place of its instances, also of those of derived
     * classes: its descriptor tells where. */
    static Py_ssize_t pyqref_place(PyObject *descriptor) {
        if (!PyObject_TypeCheck(descriptor, &PyMemberDescr_Type)) {
            PyErr_SetString(PyExc_TypeError, "a tensor's fields must be slots");
            return -1;
        }
        return ((PyMemberDescrObject *)descriptor)->d_member->offset;
    }
    #define pyqref_slot(x, place) (*(PyObject **)((char *)(x) + (place)))
    /* Nothing is there before: the object is new. */
    #define pyqref_fill(x, place, value) (Py_INCREF(value), pyqref_slot(x, place) = (value))
    #define pyqref_set(x, place, value) Py_XSETREF(pyqref_slot(x, place), Py_NewRef(value))
    static PyObject *pyqref_bare(PyObject *kind, Py_ssize_t items) {
        return ((PyTypeObject *)kind)->tp_alloc((PyTypeObject *)kind, items);
    }
    /* A tuple of two of a derived class. From 3.14 on a hash that nobody has asked for is -1. */
    static PyObject *pyqref_pair(PyObject *kind, PyObject *first, PyObject *second) {
        PyObject *pair = pyqref_bare(kind, 2);
        if (pair == NULL)
            return NULL;
    #if PY_VERSION_HEX >= 0x030E0000
        ((PyTupleObject *)pair)->ob_hash = -1;
    #endif
        PyTuple_SET_ITEM(pair, 0, Py_NewRef(first));
        PyTuple_SET_ITEM(pair, 1, Py_NewRef(second));
        return pair;
    }
    """
    bint pyqref_is_off
    Py_ssize_t pyqref_place(object descriptor) except -1
    PyObject* pyqref_slot(object x, Py_ssize_t place)
    void pyqref_set(object x, Py_ssize_t place, object value)
    void pyqref_fill(object x, Py_ssize_t place, object value)
    object pyqref_bare(object kind, Py_ssize_t items)
    object pyqref_pair(object kind, object first, object second)

cdef extern from "Python.h":
    bint PyObject_TypeCheck(object x, type kind)
    bint PyType_IsSubtype(type derived, type base)

cnp.import_array()

cdef Py_ssize_t ARRAY = pyqref_place(TensorSlots._array)
cdef Py_ssize_t BASE = pyqref_place(TensorSlots._base)
cdef Py_ssize_t CHANGES = pyqref_place(TensorSlots._changes)
cdef Py_ssize_t GOES_TO = pyqref_place(TensorSlots._goes_to)
cdef Py_ssize_t GRAD = pyqref_place(TensorSlots._grad)
cdef Py_ssize_t QUANTIZER = pyqref_place(TensorSlots._quantizer)

cdef type tensor_type = TensorSlots
cdef type quantized_type = TensorSlots
cdef type slots_type = TensorSlots


def is_recording():
    return not pyqref_is_off


def set_recording(bint enabled):
    global pyqref_is_off
    pyqref_is_off = not enabled


cdef int require_slots(type kind) except -1:
    if not PyType_IsSubtype(kind, slots_type):
        raise TypeError(f"tensors are TensorSlots, got {kind.__name__}")
    return 0


def set_tensor_type(type kind not None):
    global tensor_type
    require_slots(kind)
    tensor_type = kind


def set_quantized_type(type kind not None):
    global quantized_type
    require_slots(kind)
    quantized_type = kind


cdef object new_of(type kind, object array, object goes_to, object quantizer):
    cdef object tensor = pyqref_bare(kind, 0)
    pyqref_fill(tensor, ARRAY, array)
    pyqref_fill(tensor, CHANGES, None)
    pyqref_fill(tensor, GOES_TO, goes_to)
    pyqref_fill(tensor, BASE, None)
    pyqref_fill(tensor, GRAD, None)
    pyqref_fill(tensor, QUANTIZER, quantizer)
    return tensor


cdef object new_leaf(object array):
    return new_of(tensor_type, array, None, None)


cdef object new_quantized(object array, object quantizer):
    return new_of(quantized_type, array, None, quantizer)


def leaf(type kind not None, array):
    require_slots(kind)
    return new_of(kind, array, None, None)


def quantized_leaf(type kind not None, array, quantizer):
    require_slots(kind)
    return new_of(kind, array, None, quantizer)


def wrap(array):
    return new_leaf(array)


def wrap_quantized(array, quantizer):
    return new_quantized(array, quantizer)


def continues(array, edge):
    return new_of(tensor_type, array, edge, None)


cdef object held(object x, Py_ssize_t place):
    """What a slot holds; None where nothing was ever put there."""
    cdef PyObject* value = pyqref_slot(x, place)
    return None if value == NULL else <object> value


def root_of(tensor, gradient):
    if not (
        PyObject_TypeCheck(tensor, slots_type) and PyObject_TypeCheck(gradient, slots_type)
        and pyqref_slot(tensor, BASE) == <PyObject*> None
        and pyqref_slot(tensor, GOES_TO) != <PyObject*> None
    ):
        return None
    own, given = held(tensor, ARRAY), held(gradient, ARRAY)
    if not (
        isinstance(own, cnp.ndarray) and isinstance(given, cnp.ndarray)
        and cnp.PyArray_SAMESHAPE(own, given)
    ):
        return None
    return held(tensor, GOES_TO), given


def becomes_grad(tensor, cnp.ndarray gradient not None):
    if not PyObject_TypeCheck(tensor, slots_type) or pyqref_slot(tensor, GRAD) != <PyObject*> None:
        return False
    own = held(tensor, ARRAY)
    if not isinstance(own, cnp.ndarray) or (<cnp.ndarray> own).descr is not gradient.descr:
        return False
    if not cnp.PyArray_CHKFLAGS(gradient, cnp.NPY_ARRAY_C_CONTIGUOUS):
        return False
    pyqref_set(tensor, GRAD, new_leaf(gradient))
    return True


cdef object array_of(object x):
    if not PyObject_TypeCheck(x, tensor_type):
        return None
    return held(x, ARRAY) if pyqref_slot(x, QUANTIZER) == <PyObject*> None else None


cdef cnp.ndarray reals_of(object x):
    cdef object array = array_of(x)
    if not isinstance(array, cnp.ndarray) or cnp.PyArray_TYPE(array) != cnp.NPY_FLOAT32:
        return None
    return array if cnp.PyArray_ISCARRAY_RO(array) else None


cdef bint is_followed(object x) noexcept:
    return pyqref_is_off or pyqref_slot(x, BASE) == <PyObject*> None


cdef object recorded_edge(object x):
    return None if pyqref_is_off else held(x, GOES_TO)


cdef object new_result(object array, object node, object edge):
    if not isinstance(edge, tuple) or len(<tuple> edge) != 2:
        raise TypeError(f"a gradient goes along an Edge, got {type(edge).__name__}")
    cdef object own = pyqref_pair(type(edge), node, 0)
    node.enter((edge,))
    return new_of(tensor_type, array, own, None)
