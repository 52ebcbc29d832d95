"""The abstraction generator F_a: a short text that stands for a group of child nodes."""

import dspy


class DescribeGroup(dspy.Signature):  # type: ignore[misc]
    """You generate a concise textual abstraction for a typed retrieval hierarchy. Use only the information provided by the child nodes.

    For a Relation node, describe the semantic relation connecting the supplied evidence regions. For a Topic node, describe the broader subject shared by the supplied Relation nodes. Preserve names, dates, entities, and relations that may be needed for retrieval. Do not add unsupported information and do not answer the user query."""  # noqa: E501

    node_type: str = dspy.InputField(desc="Node type")
    children: str = dspy.InputField(desc="Child nodes")
    abstraction: str = dspy.OutputField(desc="ABSTRACTION")
