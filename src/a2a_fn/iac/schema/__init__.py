"""What is known of resource types, as data."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files


@cache
def _attributes() -> dict[str, frozenset[str]]:
    text = files(__name__).joinpath("attributes.json").read_text("utf-8")
    return {kind: frozenset(names) for kind, names in json.loads(text).items()}


def attributes(resource_type: str) -> frozenset[str] | None:
    """Return the attributes that `Fn::GetAtt` gives of a ROS type; None if it is not known here.

    Known are the types of ECS, VPC, RDS, SLB and OSS. Source: the attributes of the classes in
    the packages ros-cdk-{ecs,vpc,rds,slb,oss} 1.15.0, which are made from the service's schema.
    """
    return _attributes().get(resource_type)
