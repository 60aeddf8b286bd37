// Makes the order of nodes count where a graph leaves the order of reads and updates open.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// Adds control edges, so that each update of a variable comes after the reads that stand before it
/// in the graph and after other updates, and the fetch of a variable after the updates before it.
/// In a graph that cut() made, no other read stands behind an update that it does not depend on.
/// With `strictly`, other reads also come after the updates before them: then all accesses happen
/// in one order, at the price that replicas of a model in one graph wait for each other.
void order_effects(graph& of, bool strictly);

} // namespace troupe
