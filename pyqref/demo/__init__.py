"""The main job: train two small networks on real images, quantize them, report.

Read :mod:`~pyqref.demo.models`, :mod:`~pyqref.demo.train`, then the three workflows
:mod:`~pyqref.demo.static`, :mod:`~pyqref.demo.dynamic` and :mod:`~pyqref.demo.qat`;
:mod:`~pyqref.demo.study` puts them together and :mod:`~pyqref.demo.report` writes down
what came out. Needs the extra ``pyqref[demo]``.
"""
