/* A kernel cimports functions of another one: of the module for its own instruction set. Cython would
 * import "pyqref._kernels.product.kernel", where the module is "pyqref._kernels.product.avx2". So the
 * last word of such names is replaced by KERNEL, which the file that includes this one defines. */
#ifndef PYQREF_ONE_SET_H
#define PYQREF_ONE_SET_H

#include <Python.h>
#include <stdio.h>
#include <string.h>

static PyObject *import_of_one_set(const char *name) {
    static const char body[] = ".kernel";
    char own[128];
    const size_t stem = strlen(name) - (sizeof body - 1);
    if (strlen(name) < sizeof body || strcmp(name + stem, body)) return PyImport_ImportModule(name);
    snprintf(own, sizeof own, "%.*s.%s", (int)stem, name, KERNEL);
    return PyImport_ImportModule(own);
}
#define PyImport_ImportModule import_of_one_set

#endif
