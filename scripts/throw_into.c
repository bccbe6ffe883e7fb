// Throws the error that a compiled coroutine was resumed with into what it waits for, as Python's own coroutines do. setup.py puts it
// in place of mypyc's function (2.4.1, lib-rt/misc_ops.c), which does three things otherwise: what is awaited runs as if it stood in an
// `except` of that error, the frame stands in the traceback twice, and `throw` is called by the signature that Python 3.12 deprecates.
//
// Gives 0 where a value is to be yielded, 1 where one ended the wait (both in outp), 2 where an error is set.
int CPy_YieldFromErrorHandle(PyObject *iter, PyObject **outp)
{
    _PyErr_StackItem *handled = CPy_ExcState();
    PyObject *error = handled->exc_value;
    int ends = PyErr_GivenExceptionMatches(error, PyExc_GeneratorExit);
    PyObject *res = NULL;
    *outp = NULL;

    PyObject *traceback = PyException_GetTraceback(error);
    if (traceback != NULL) {  // its head is this frame, which is entered again when the error leaves it
        PyObject *before = (PyObject *)((PyTracebackObject *)traceback)->tb_next;
        PyException_SetTraceback(error, before != NULL ? before : Py_None);
        Py_DECREF(traceback);
    }

    PyObject *method = PyObject_GetAttr(iter, ends ? mypyc_interned_str.close_ : mypyc_interned_str.throw_);
    if (method != NULL) {
        handled->exc_value = NULL;
        res = ends ? PyObject_CallNoArgs(method) : PyObject_CallOneArg(method, error);
        Py_XSETREF(handled->exc_value, error);
        Py_DECREF(method);
        if (!ends) {
            *outp = res != NULL ? res : CPy_FetchStopIterationValue();
        }
    } else if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
    }

    if (*outp != NULL) {
        return res != NULL ? 0 : 1;
    }
    if (!PyErr_Occurred()) {  // it was closed, or takes no errors
        Py_XDECREF(res);
        CPy_Reraise();
    }
    return 2;
}

