"""Theorems of the literature on gradient methods and federated learning: one a module, some with a method of their own.

Where the package is installed its methods are found by their entry points, where it is loaded by the table `methods`.
"""

from boundcheck.methods.from_rule import kind_of_rule

from .adam import ProjectedAdam
from .dist_ef_sgd import DistEFSGD
from .gradient_ascent_descent import DescentAscent
from .proxskip import Scaffnew

methods = {
    name: kind_of_rule(name, rule)
    for name, rule in {
        "projected_adam": ProjectedAdam,
        "dist_ef_sgd": DistEFSGD,
        "descent_ascent": DescentAscent,
        "scaffnew": Scaffnew,
    }.items()
}
PROJECTED_ADAM, DIST_EF_SGD, DESCENT_ASCENT, SCAFFNEW = methods.values()
