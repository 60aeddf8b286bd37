// Adds control edges where a graph leaves the order of reads and updates open.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// Adds control edges, so that each update of a variable runs after the reads that precede it in
/// the graph and after other updates, and the fetch of a variable after the updates that precede
/// it. In a graph that cut() made, no other read follows an update that it does not depend on. With
/// `strictly`, other reads also run after the updates that precede them: then all accesses happen
/// in one order, but replicas of a model in one graph wait for each other.
void order_effects(graph& ordered, bool strictly);

} // namespace troupe
