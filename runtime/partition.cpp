#include "troupe/runtime/partition.hpp"

#include "troupe/runtime/internal_ops.hpp"

#include <algorithm>
#include <map>

namespace troupe {
namespace {

class cutter {
public:
  cutter(const graph& of, const step_signature& signature, const std::vector<int>& chosen,
         const device_list& devices)
      : of_(of), signature_(signature), chosen_(chosen), devices_(devices), parts_(devices.size()) {}

  result<std::vector<partition>> run(const std::vector<node*>& order) {
    for (auto* at : order) {
      auto here = device_of(at);
      std::vector<edge> inputs;
      for (size_t i = 0; i < at->inputs().size(); ++i) {
        TROUPE_ASSIGN(auto input, bring(at->inputs()[i], here));
        inputs.push_back(input);
      }
      // What a node waits for must come before it: a partition is ordered by dependence.
      std::vector<node*> controls;
      for (auto* before : at->controls())
        if (is_needed(before)) {
          TROUPE_ASSIGN(auto* local, bring_control(before, here));
          controls.push_back(local);
        }
      auto* copy = part(here).add_copy(*at, std::move(inputs));
      copies_[at] = copy;
      for (auto* local : controls)
        TROUPE_TRY(part(here).add_control(*local, *copy));
    }
    for (size_t i = 0; i < signature_.fetches.size(); ++i) {
      auto what = signature_.fetches[i];
      auto fed = feed_index(what);
      auto here = fed >= 0 ? 0 : device_of(what.node);
      TROUPE_ASSIGN(auto local, bring(what, here));
      TROUPE_TRY(part(here).add({.op = "_Fetch",
                                 .name = concat("_fetch_", i),
                                 .inputs = {local},
                                 .attrs = {{"index", i}},
                                 .where = what.node->where()}));
    }
    std::vector<partition> made;
    for (size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i])
        made.push_back({devices_[i], std::move(parts_[i])});
    return made;
  }

private:
  graph& part(int device) {
    auto& one = parts_[static_cast<size_t>(device)];
    if (!one)
      one = std::make_unique<graph>(of_.ops());
    return *one;
  }
  int device_of(const node* at) const { return chosen_[static_cast<size_t>(at->id())]; }
  bool is_needed(const node* at) const { return device_of(at) >= 0; }
  std::string name_of(int device) const { return to_string(devices_[static_cast<size_t>(device)]); }
  int feed_index(edge what) const {
    auto it = std::ranges::find(signature_.feeds, what);
    return it == signature_.feeds.end() ? -1 : static_cast<int>(it - signature_.feeds.begin());
  }

  // The edge, as the device has it: its own, fed, or received.
  result<edge> bring(edge what, int here) {
    if (auto index = feed_index(what); index >= 0)
      return find_or_add(what, here, {.op = "_Feed",
                                      .name = concat("_feed_", index, '/', what.node->name()),
                                      .attrs = {{"index", index},
                                                {"dtype", what.type()},
                                                {"shape", what.dims()}},
                                      .where = what.node->where()});
    auto from = device_of(what.node);
    auto* copy = copies_.at(what.node);
    if (from == here)
      return edge{copy, what.index};
    if (auto it = brought_.find({what.node, what.index, here}); it != brought_.end())
      return it->second;
    auto key = next_key_++;
    TROUPE_TRY(part(from).add({.op = "_Send",
                               .name = concat("_send_", key, '/', what.node->name()),
                               .inputs = {edge{copy, what.index}},
                               .attrs = {{"key", key}, {"to", name_of(here)}},
                               .where = what.node->where()}));
    return find_or_add(what, here, {.op = "_Recv",
                                    .name = concat("_recv_", key, '/', what.node->name()),
                                    .attrs = {{"key", key},
                                              {"from", name_of(from)},
                                              {"dtype", what.type()},
                                              {"shape", what.dims()}},
                                    .where = what.node->where()});
  }

  result<node*> bring_control(node* before, int here) {
    auto from = device_of(before);
    auto* copy = copies_.at(before);
    if (from == here)
      return copy;
    // A tensor that comes from that node anyway brings the news with it.
    for (int i = 0; i < before->outputs(); ++i)
      if (auto it = brought_.find({before, i, here}); it != brought_.end())
        return it->second.node;
    if (auto it = brought_.find({before, -1, here}); it != brought_.end())
      return it->second.node;
    auto key = next_key_++;
    TROUPE_TRY(part(from).add({.op = "_SendControl",
                               .name = concat("_send_", key, '/', before->name()),
                               .attrs = {{"key", key}, {"to", name_of(here)}},
                               .controls = {copy},
                               .where = before->where()}));
    TROUPE_ASSIGN(auto local, find_or_add({before, -1}, here,
                                          {.op = "_RecvControl",
                                           .name = concat("_recv_", key, '/', before->name()),
                                           .attrs = {{"key", key}, {"from", name_of(from)}},
                                           .where = before->where()}));
    return local.node;
  }

  result<edge> find_or_add(edge what, int here, node_spec spec) {
    auto& known = brought_[{what.node, what.index, here}];
    if (!known) {
      TROUPE_ASSIGN(auto* added, part(here).add(std::move(spec)));
      known = {added, 0};
    }
    return known;
  }

  const graph& of_;
  const step_signature& signature_;
  const std::vector<int>& chosen_;
  const device_list& devices_;
  std::vector<std::unique_ptr<graph>> parts_;
  std::map<const node*, node*> copies_;
  std::map<std::tuple<const node*, int, int>, edge> brought_; // (node, output, device)
  int next_key_ = 0;
};

} // namespace

result<std::vector<partition>> cut(const graph& of, const step_signature& signature,
                                   const std::vector<node*>& order, const std::vector<int>& chosen,
                                   const device_list& devices) {
  return cutter{of, signature, chosen, devices}.run(order);
}

} // namespace troupe
