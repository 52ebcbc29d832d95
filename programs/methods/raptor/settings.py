"""RAPTOR."""

from __future__ import annotations

from pydantic import Field

from programs.bounds import MOST, Budget, Candidates, Count, Seed, Tokens
from programs.frozen import Frozen


class RaptorSettings(Frozen):
    """RAPTOR, with the values of its published code unless a description says otherwise."""

    leaf_tokens: Tokens = Field(100, description="tokens of a leaf: whole sentences as far as they fit")
    layers: int = Field(5, ge=0, le=100, description="layers of summaries at most")
    dimension: int = Field(
        10,
        ge=2,
        le=1000,
        description="dimensions that UMAP reduces to; a layer of at most one node more than this is the top",
    )
    local_neighbours: int = Field(
        10, ge=2, le=MOST, description="UMAP's neighbours inside a cluster; over a layer, √(n - 1)"
    )
    max_clusters: int = Field(50, ge=2, le=MOST, description="numbers of clusters below this are compared by BIC")
    threshold: float = Field(0.1, ge=0, lt=1, description="probability above which a node belongs to a cluster")
    cluster_tokens: Budget = Field(
        3500, description="a longer cluster is clustered again; less where the model's context is short"
    )
    summary_tokens: Tokens = Field(100, description="tokens that a summary may have")
    seed: Seed = Field(224, description="seed of UMAP and of the mixtures that BIC compares; the code seeds no UMAP")
    refit_seed: Seed = Field(0, description="seed of the mixture that is fitted with the chosen number")
    full_search: Candidates = Field(
        512, description="nodes up to which every number is compared; above, a grid refined around its best"
    )
    large_epochs: int = Field(
        200, ge=1, le=100_000, description="UMAP's epochs above full_search nodes; below, its own 500"
    )
    top_k: Count = Field(20, description="nodes retrieved at most, as in the paper's experiments; the code has 10")
    max_tokens: Budget = Field(
        2000, description="tokens retrieved at most, as in the paper's experiments; the code has 3500"
    )
