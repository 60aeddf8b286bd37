#include "troupe/runtime/placement/minimum_cut.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // false positives in Boost's iterators
#endif

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

namespace troupe {
namespace {

using traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using vertices = boost::property<
    boost::vertex_color_t, boost::default_color_type,
    boost::property<boost::vertex_distance_t, int64_t,
                    boost::property<boost::vertex_predecessor_t, traits::edge_descriptor>>>;
using edges = boost::property<
    boost::edge_capacity_t, int64_t,
    boost::property<boost::edge_residual_capacity_t, int64_t,
                    boost::property<boost::edge_reverse_t, traits::edge_descriptor>>>;
using flow_graph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, vertices, edges>;

} // namespace

struct minimum_cut::network {
  flow_graph graph{2};
  static constexpr size_t first = 0, second = 1, items = 2;

  void connect(size_t from, size_t to, int64_t forward_capacity, int64_t backward_capacity) {
    auto capacity = boost::get(boost::edge_capacity, graph);
    auto reverse = boost::get(boost::edge_reverse, graph);
    auto forward = boost::add_edge(from, to, graph).first;
    auto backward = boost::add_edge(to, from, graph).first;
    capacity[forward] = forward_capacity;
    capacity[backward] = backward_capacity;
    reverse[forward] = backward;
    reverse[backward] = forward;
  }
};

minimum_cut::minimum_cut() : network_(std::make_unique<network>()) {}
minimum_cut::~minimum_cut() = default;

// An item that is cut off from one side pays the cost of the other side.
size_t minimum_cut::add_item(int64_t cost_on_first, int64_t cost_on_second) {
  auto item = boost::add_vertex(network_->graph);
  network_->connect(network::first, item, cost_on_second, 0);
  network_->connect(item, network::second, cost_on_first, 0);
  return item - network::items;
}

void minimum_cut::add_cost(size_t first_item, size_t second_item, int64_t cost) {
  network_->connect(first_item + network::items, second_item + network::items, cost, 0);
}

std::vector<bool> minimum_cut::solve() {
  boost::boykov_kolmogorov_max_flow(network_->graph, network::first, network::second);
  auto color = boost::get(boost::vertex_color, network_->graph);
  std::vector<bool> on_first;
  for (size_t i = network::items; i < boost::num_vertices(network_->graph); ++i)
    on_first.push_back(color[i] == boost::black_color);
  return on_first;
}

} // namespace troupe
