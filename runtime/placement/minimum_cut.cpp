#include "troupe/runtime/placement/minimum_cut.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // sees some in Boost's iterators
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

  void connect(size_t from, size_t to, int64_t there, int64_t back) {
    auto capacity = boost::get(boost::edge_capacity, graph);
    auto reverse = boost::get(boost::edge_reverse, graph);
    auto forward = boost::add_edge(from, to, graph).first;
    auto backward = boost::add_edge(to, from, graph).first;
    capacity[forward] = there;
    capacity[backward] = back;
    reverse[forward] = backward;
    reverse[backward] = forward;
  }
};

minimum_cut::minimum_cut() : in_(std::make_unique<network>()) {}
minimum_cut::~minimum_cut() = default;

// What is cut off from a side pays for being on the other.
size_t minimum_cut::add_item(int64_t cost_on_first, int64_t cost_on_second) {
  auto made = boost::add_vertex(in_->graph);
  in_->connect(network::first, made, cost_on_second, 0);
  in_->connect(made, network::second, cost_on_first, 0);
  return made - network::items;
}

void minimum_cut::part(size_t one, size_t other, int64_t cost) {
  in_->connect(one + network::items, other + network::items, cost, 0);
}

std::vector<bool> minimum_cut::solve() {
  boost::boykov_kolmogorov_max_flow(in_->graph, network::first, network::second);
  auto color = boost::get(boost::vertex_color, in_->graph);
  std::vector<bool> on_first;
  for (size_t i = network::items; i < boost::num_vertices(in_->graph); ++i)
    on_first.push_back(color[i] == boost::black_color);
  return on_first;
}

} // namespace troupe
