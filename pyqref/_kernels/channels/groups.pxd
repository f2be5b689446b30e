# Groups of channels normalized: each image by itself.

cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.math cimport sqrt
from pyqref._kernels._outputs cimport OF_FLOAT32, require_output
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.channels.constants cimport WORK_PER_THREAD
from pyqref._kernels.channels.lines cimport SPREAD
from pyqref._kernels.channels.scales cimport (
    CENTER, Scaling, fill_scaling, scale_lines, scaling_task, scaling_tasks,
)
from pyqref._kernels.channels.sums cimport ITSELF, PLACES, SQUARE, Term

cdef extern from "channels/groups.h":
    ctypedef struct Groups:
        const float* x
        float* means
        float* variances
        double* scratch
        Py_ssize_t images, pixels, channels, groups
        bint across
    Py_ssize_t parts_of(const Groups* g) nogil
    void sum_part(
        Term term, const Groups* g, Py_ssize_t image, Py_ssize_t part, Py_ssize_t slot
    ) nogil
    void put_moments(Term term, const Groups* g, Py_ssize_t image, Py_ssize_t slot) nogil


# Of each channel of each image: what is taken from it, its factor without and with the weight, and
# what is added. Without them there are moments alone.
cdef struct Normalization:
    Groups groups
    Scaling scaling
    const float* weight
    const float* bias
    float* centers
    float* factors
    float* scales
    float* shifts
    double eps
    Py_ssize_t channels


cdef inline void put_parameters(const Normalization* n, Py_ssize_t image) noexcept nogil:
    cdef const Groups* g = &n.groups
    cdef Py_ssize_t each = n.channels // g.groups
    cdef Py_ssize_t at = image * n.channels
    cdef Py_ssize_t group, i, channel
    cdef double factor
    for group in range(g.groups):
        factor = 1 / sqrt(<double> g.variances[image * g.groups + group] + n.eps)
        for i in range(each):
            channel = group * each + i
            n.centers[at + channel] = g.means[image * g.groups + group]
            n.factors[at + channel] = <float> factor
            n.scales[at + channel] = <float> (
                factor if n.weight == NULL else factor * n.weight[channel]
            )
            n.shifts[at + channel] = 0 if n.bias == NULL else n.bias[channel]


cdef inline void moments_of_image(
    const Groups* g, Py_ssize_t image, Py_ssize_t slot, Term term
) noexcept nogil:
    cdef Py_ssize_t part
    for part in range(parts_of(g)):
        sum_part(term, g, image, part, slot)
    put_moments(term, g, image, slot)


cdef inline void image_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One image, which is still near when it is read again."""
    cdef const Normalization* n = <const Normalization*> context
    cdef Py_ssize_t lines
    moments_of_image(&n.groups, index, thread, ITSELF)
    moments_of_image(&n.groups, index, thread, SQUARE)
    if n.centers != NULL:
        put_parameters(n, index)
        lines = n.scaling.lines // n.groups.images
        scale_lines(&n.scaling, index * lines, (index + 1) * lines, CENTER)


cdef inline void sum_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some channels of one of few images."""
    cdef const Groups* g = &(<const Normalization*> context).groups
    cdef Py_ssize_t image = index // parts_of(g)
    sum_part(ITSELF, g, image, index % parts_of(g), image)


cdef inline void square_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Groups* g = &(<const Normalization*> context).groups
    cdef Py_ssize_t image = index // parts_of(g)
    sum_part(SQUARE, g, image, index % parts_of(g), image)


cdef inline void run_few_images(Normalization* n, int n_threads) noexcept nogil:
    cdef const Groups* g = &n.groups
    cdef Py_ssize_t image
    parallel_for(sum_task, n, g.images * parts_of(g), n_threads)
    for image in range(g.images):
        put_moments(ITSELF, g, image, image)
    parallel_for(square_task, n, g.images * parts_of(g), n_threads)
    for image in range(g.images):
        put_moments(SQUARE, g, image, image)
        if n.centers != NULL:
            put_parameters(n, image)
    if n.centers != NULL:
        parallel_for(scaling_task, &n.scaling, scaling_tasks(&n.scaling), n_threads)


cdef inline int run_groups(
    Normalization* n, cnp.ndarray x, bint across, Py_ssize_t groups, cnp.ndarray means,
    cnp.ndarray variances, int n_threads
) except -1:
    """``x (images, channels, pixels)``, or ``(images, pixels, channels)`` where it is across."""
    cdef Groups* g = &n.groups
    cdef cnp.npy_intp[2] shape
    shape[0], shape[1] = cnp.PyArray_DIM(x, 0), groups
    require_output("means", means, OF_FLOAT32, 2, shape)
    require_output("variances", variances, OF_FLOAT32, 2, shape)
    g.x = <const float*> cnp.PyArray_DATA(x)
    g.means = <float*> cnp.PyArray_DATA(means)
    g.variances = <float*> cnp.PyArray_DATA(variances)
    g.images, g.groups, g.across = shape[0], groups, across
    g.channels, g.pixels = cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    if across:
        g.channels, g.pixels = g.pixels, g.channels
    n.channels = g.channels
    if g.pixels == 1:  # a group is a row
        g.channels, g.pixels, g.across = groups, g.channels // groups, False
    n_threads = max(
        useful_threads(<double> cnp.PyArray_SIZE(x), WORK_PER_THREAD, n_threads), 1
    )
    g.scratch = <double*> malloc(
        (n_threads * parts_of(g) + 1) * SPREAD * PLACES * sizeof(double)
    )
    if g.scratch == NULL:
        raise MemoryError()
    with nogil:
        if g.images >= n_threads:
            parallel_for(image_task, n, g.images, n_threads)
        else:
            run_few_images(n, n_threads)
        free(g.scratch)
    return 0


cdef inline int add_scaling(
    Normalization* n, cnp.ndarray x, bint across, cnp.ndarray parameters, cnp.ndarray out
) except -1:
    """``parameters (4, images, channels)`` are written first, and then ``out``, as ``x``."""
    cdef cnp.npy_intp[3] shape
    shape[0], shape[1] = 4, cnp.PyArray_DIM(x, 0)
    shape[2] = cnp.PyArray_DIM(x, 2 if across else 1)
    require_output("parameters", parameters, OF_FLOAT32, 3, shape)
    n.scaling.parameters = shape[1] * shape[2]
    n.centers = <float*> cnp.PyArray_DATA(parameters)
    n.factors = n.centers + n.scaling.parameters
    n.scales = n.factors + n.scaling.parameters
    n.shifts = n.scales + n.scaling.parameters
    n.scaling.rule, n.scaling.centers = CENTER, n.centers
    n.scaling.scales, n.scaling.shifts = n.scales, n.shifts
    return fill_scaling(&n.scaling, x, across, out)
