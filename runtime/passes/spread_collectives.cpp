#include "troupe/runtime/passes/spread_collectives.hpp"

#include "troupe/runtime/graph/collective.hpp"
#include "troupe/runtime/graph/collective_group.hpp"
#include "troupe/runtime/graph/piece.hpp"
#include "troupe/runtime/graph/transfer_attr.hpp"
#include "troupe/runtime/passes/estimated_bytes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace troupe {
namespace {

// Below it, a second hop costs more than the bytes that it saves.
constexpr int64_t whole_bytes = 8 << 10;
// What one piece should have at least and at most, where a task's part is cut further: sending one
// overlaps reducing another.
constexpr int64_t piece_bytes = 4 << 20;
constexpr int64_t max_pieces_each = 8;

struct member {
  node* origin = nullptr;
  int device = 0;
};

// The members of a group on one task.
struct task_members {
  std::string task;
  int processor = 0; // where pieces are cut, reduced and joined
  std::vector<member> members = {};
  edge value = {};                // what the task contributes, at its first member
  std::vector<node*> before = {}; // what comes before it
  std::vector<node*> local = {};  // the collective nodes within the task, by member
};

using group = std::vector<member>;

std::vector<group> find_spread_groups(const graph& of, const std::vector<int>& chosen,
                                      const device_list& devices) {
  std::map<std::pair<int64_t, int64_t>, group> all;
  for (const auto& one : of.nodes())
    if (is_collective(one->op()))
      all[{one->attr<int64_t>("group_key"), one->attr<int64_t>("instance_key")}].push_back(
          {one.get(), chosen[one->index()]});
  std::vector<group> spread;
  for (auto& [keys, members] : all) {
    auto task_of = [&](const member& one) {
      return devices[static_cast<size_t>(one.device)].on_task();
    };
    auto first = task_of(members.front());
    if (std::ranges::all_of(members, [&](const member& one) { return task_of(one) == first; }))
      continue;
    std::ranges::sort(members, {}, [&](const member& one) {
      return std::tie(devices[static_cast<size_t>(one.device)], one.origin->name());
    });
    spread.push_back(std::move(members));
  }
  return spread;
}

class spreader {
public:
  spreader(step_graph& of, std::vector<int>& chosen, const device_list& devices,
           f32_transfer between_tasks)
      : of_(of), chosen_(chosen), devices_(devices), of_session_(between_tasks), with_(of) {
    for (const auto& one : of.nodes->nodes())
      placed_[one.get()] = chosen[one->index()];
  }

  status run(const std::vector<group>& groups) {
    for (const auto& one : groups)
      TROUPE_TRY(spread(one));
    with_.finish();
    chosen_.clear();
    for (const auto& one : of_.nodes->nodes())
      chosen_.push_back(placed_.at(one.get()));
    return {};
  }

private:
  status spread(const group& members) {
    std::vector<placed_member> placed;
    for (const auto& one : members)
      placed.push_back({one.origin, devices_[static_cast<size_t>(one.device)]});
    TROUPE_TRY(check_members(placed));
    call_ = call_of(*members.front().origin);
    TROUPE_TRY(choose_transfer(members));
    size_ = static_cast<int64_t>(members.size());
    TROUPE_TRY(sort_by_task(members));
    if (call_.kind == collective_kind::broadcast)
      return broadcast();
    TROUPE_TRY(check_dims(members));
    for (auto& one : tasks_)
      TROUPE_TRY(contribute(one));
    switch (call_.kind) {
      case collective_kind::all_gather: return gather();
      case collective_kind::reduce_scatter: return reduce_scatter();
      default: return sends_whole() ? reduce_whole() : reduce_pieces();
    }
  }

  // All members are to have the same bits.
  status choose_transfer(const group& members) {
    const auto& first = *members.front().origin;
    for (const auto& one : members)
      if (transfer_of(*one.origin) != transfer_of(first))
        return invalid(one.origin->description(),
                       ": its floats travel in another way than those of ", first.description(),
                       ": all members of a group must have the same ", transfer_attr);
    between_tasks_ = transfer_of(first).value_or(of_session_);
    return {};
  }

  // What is not known yet is compared when the step runs.
  status check_dims(const group& members) const {
    const auto& first = members.front();
    auto where = [&](const member& one) { return devices_[static_cast<size_t>(one.device)]; };
    for (const auto& one : members) {
      const auto &mine = one.origin->inputs()[0].dims(), &others = first.origin->inputs()[0].dims();
      if (!mine.compatible(others))
        return invalid(one.origin->description(), ": has ", mine, " on ", where(one), ", but ",
                       first.origin->description(), " has ", others, " on ", where(first),
                       ": all members of a group must have one shape");
    }
    return {};
  }

  status sort_by_task(const group& members) {
    tasks_.clear();
    std::vector<task_name> names;
    for (const auto& one : members) {
      auto on = devices_[static_cast<size_t>(one.device)].on_task();
      if (names.empty() || names.back() != on) {
        names.push_back(on);
        auto processor = std::ranges::find_if(devices_, [&](const device_name& device) {
          return device.on_task() == on && kind_of(device) == device_kind::cpu;
        });
        auto is_processor = kind_of(devices_[static_cast<size_t>(one.device)]) == device_kind::cpu;
        if (!is_processor && processor == devices_.end())
          return failure(error_kind::failed_precondition, one.origin->description(), ": ", on,
                         " has no processor, which collective operations between tasks need");
        tasks_.push_back({.task = to_string(on),
                          .processor = is_processor
                                           ? one.device
                                           : static_cast<int>(processor - devices_.begin())});
      }
      tasks_.back().members.push_back(one);
    }
    return {};
  }

  // -- nodes ---------------------------------------------------------------------------------

  result<node*> add(int device, const node& like, node_spec spec) {
    spec.name = concat("spread_", next_++, '/', like.name());
    TROUPE_ASSIGN(auto* made, with_.add(std::move(spec), like));
    rewriter::set_device(*made, to_string(devices_[static_cast<size_t>(device)]));
    placed_[made] = device;
    of_.nodes->set_origin(*made, concat("for ", like.description()));
    return made;
  }

  result<edge> pass_on(int device, const node& like, edge what, std::vector<node*> before = {}) {
    TROUPE_ASSIGN(
        auto* made,
        add(device, like, {.op = "Identity", .inputs = {what}, .controls = std::move(before)}));
    return edge{made, 0};
  }

  result<edge> cast(int device, const node& like, edge what, dtype to) {
    auto cuts_off = to == dtype::bf16 && between_tasks_ == f32_transfer::truncated;
    TROUPE_ASSIGN(
        auto* made,
        add(device, like,
            {.op = "Cast", .inputs = {what}, .attrs = {{"DstT", to}, {"Truncate", cuts_off}}}));
    return edge{made, 0};
  }

  bool travels_short() const {
    return between_tasks_ != f32_transfer::exact && call_.type == dtype::f32;
  }
  // What would be sent with fewer bits than the sender keeps: all are to have the same.
  result<edge> shortened(int device, const node& like, edge what) {
    return travels_short() ? cast(device, like, what, dtype::bf16) : result<edge>{what};
  }
  result<edge> lengthened(int device, const node& like, edge what) {
    return travels_short() ? cast(device, like, what, dtype::f32) : result<edge>{what};
  }

  // From here on it stands for the member's output.
  status stand_for(const member& old, edge by) {
    with_.merge(*old.origin, std::vector<edge>{by});
    with_.take_name(*by.node, *old.origin);
    if (!with_.is_target(*old.origin))
      of_.targets.push_back(by.node);
    return {};
  }

  // Each member of the task gets a result that is there on the processor.
  status hand_out(task_members& on, const std::vector<edge>& results) {
    for (size_t i = 0; i < on.members.size(); ++i) {
      const auto& one = on.members[i];
      std::vector<node*> before;
      if (!on.local.empty())
        before.push_back(on.local[i]);
      TROUPE_ASSIGN(auto mine, pass_on(one.device, *one.origin,
                                       results[results.size() == 1 ? 0 : i], std::move(before)));
      TROUPE_TRY(stand_for(one, mine));
    }
    return {};
  }

  // -- within a task -------------------------------------------------------------------------

  // What the members of a task have in common is computed as within one task alone.
  status contribute(task_members& on) {
    const auto& first = *on.members.front().origin;
    if (on.members.size() == 1) {
      on.before = first.controls();
      on.value = first.inputs()[0];
      return {};
    }
    auto gathers = call_.kind == collective_kind::all_gather;
    for (const auto& one : on.members) {
      attr_map attrs{{"group_size", static_cast<int64_t>(on.members.size())},
                     {"group_key", one.origin->attr<int64_t>("group_key")},
                     {"instance_key", one.origin->attr<int64_t>("instance_key")}};
      if (!gathers) {
        attrs["merge_op"] = one.origin->attr<std::string>("merge_op");
        attrs["final_op"] = std::string{"Id"};
      }
      TROUPE_ASSIGN(auto* made, add(one.device, *one.origin,
                                    {.op = gathers ? "CollectiveGather" : "CollectiveReduce",
                                     .inputs = {one.origin->inputs()[0]},
                                     .attrs = std::move(attrs),
                                     .controls = one.origin->controls()}));
      on.local.push_back(made);
    }
    on.value = {on.local.front(), 0};
    return {};
  }

  // -- between tasks -------------------------------------------------------------------------

  std::vector<std::string> task_names() const {
    std::vector<std::string> all;
    for (const auto& one : tasks_)
      all.push_back(one.task);
    return all;
  }
  std::vector<int64_t> shares() const {
    std::vector<int64_t> all;
    for (const auto& one : tasks_)
      all.push_back(static_cast<int64_t>(one.members.size()));
    return all;
  }

  result<edge> reduce(size_t owner, std::vector<edge> parts, std::vector<edge> dims,
                      bool own_is_shared) {
    const auto& on = tasks_[owner];
    const auto& like = *on.members.front().origin;
    auto all_dims = static_cast<int64_t>(dims.size());
    parts.insert(parts.end(), dims.begin(), dims.end());
    TROUPE_ASSIGN(auto* made,
                  add(on.processor, like,
                      {.op = "_ReducePieces",
                       .inputs = std::move(parts),
                       .attrs = {{"count", static_cast<int64_t>(tasks_.size())},
                                 {"dims_count", all_dims},
                                 {"merge_op", like.attr<std::string>("merge_op")},
                                 {"divide_by", call_.average ? size_ : int64_t{1}},
                                 {"own", own_is_shared ? static_cast<int64_t>(owner) : int64_t{-1}},
                                 {"tasks", task_names()}}}));
    return edge{made, 0};
  }

  // What all members are known to have.
  partial_shape known_dims() const {
    for (const auto& on : tasks_)
      for (const auto& one : on.members)
        if (!one.origin->inputs()[0].dims().fully_known())
          return {};
    return tasks_.front().members.front().origin->inputs()[0].dims();
  }

  bool sends_whole() const {
    auto dims = known_dims();
    return dims.fully_known() && !travels_short() &&
           dims.known().elements() <= whole_bytes / static_cast<int64_t>(size_of(call_.type));
  }

  // Each task gets the tensors of all.
  status reduce_whole() {
    std::vector<edge> parts;
    for (auto& on : tasks_) {
      TROUPE_ASSIGN(auto mine, pass_on(on.members.front().device, *on.members.front().origin,
                                       on.value, on.before));
      parts.push_back(mine);
    }
    for (size_t i = 0; i < tasks_.size(); ++i) {
      TROUPE_ASSIGN(auto sum, reduce(i, parts, {}, true));
      TROUPE_TRY(hand_out(tasks_[i], {sum}));
    }
    return {};
  }

  int64_t pieces_each() const {
    auto dims = known_dims();
    if (!dims.fully_known())
      return 1;
    auto bytes = estimated_bytes(call_.type, dims);
    return std::clamp<int64_t>(bytes / static_cast<int64_t>(tasks_.size()) / piece_bytes, 1,
                               max_pieces_each);
  }

  result<node*> cut(task_members& on, int64_t count, std::vector<int64_t> by_rows,
                    bool tells_dims) {
    return add(on.processor, *on.members.front().origin,
               {.op = "_Pieces",
                .inputs = {on.value},
                .attrs = {{"count", count},
                          {"shares", std::move(by_rows)},
                          {"tells_dims", int64_t{tells_dims ? 1 : 0}}},
                .controls = on.before});
  }

  status reduce_pieces() {
    const auto each = pieces_each();
    const auto count = each * static_cast<int64_t>(tasks_.size());
    const auto tells_dims = !known_dims().fully_known();
    std::vector<node*> cuts;
    for (auto& on : tasks_) {
      TROUPE_ASSIGN(auto* mine, cut(on, count, {}, tells_dims));
      cuts.push_back(mine);
    }
    std::vector<edge> dims, reduced;
    if (tells_dims)
      for (auto* one : cuts)
        dims.push_back(one->output(static_cast<int>(count)));
    for (int64_t i = 0; i < count; ++i) {
      const auto owner = static_cast<size_t>(i / each);
      const auto& on = tasks_[owner];
      std::vector<edge> parts;
      for (auto* one : cuts)
        parts.push_back(one->output(static_cast<int>(i)));
      TROUPE_ASSIGN(auto sum,
                    reduce(owner, std::move(parts), i == 0 ? dims : std::vector<edge>{}, true));
      TROUPE_ASSIGN(auto sent, shortened(on.processor, *on.members.front().origin, sum));
      reduced.push_back(sent);
    }
    for (auto& on : tasks_) {
      const auto& like = *on.members.front().origin;
      auto inputs = reduced;
      if (tells_dims)
        inputs.push_back(on.value);
      TROUPE_ASSIGN(auto* joined,
                    add(on.processor, like,
                        {.op = "_JoinPieces",
                         .inputs = std::move(inputs),
                         .attrs = {{"count", count},
                                   {"like_count", int64_t{tells_dims ? 1 : 0}},
                                   {"U", call_.type},
                                   {"shape", tells_dims ? like.output_shape(0) : known_dims()}}}));
      TROUPE_ASSIGN(auto whole, lengthened(on.processor, like, {joined, 0}));
      TROUPE_TRY(hand_out(on, {whole}));
    }
    return {};
  }

  // Each task owns what its members get.
  status reduce_scatter() {
    std::vector<node*> cuts;
    for (auto& on : tasks_) {
      TROUPE_ASSIGN(auto* mine, cut(on, static_cast<int64_t>(tasks_.size()), shares(), false));
      cuts.push_back(mine);
    }
    for (size_t i = 0; i < tasks_.size(); ++i) {
      auto& on = tasks_[i];
      std::vector<edge> parts, results;
      for (auto* one : cuts)
        parts.push_back(one->output(static_cast<int>(i)));
      TROUPE_ASSIGN(auto sum, reduce(i, std::move(parts), {}, true));
      const auto count = static_cast<int64_t>(on.members.size());
      if (count == 1) {
        results.push_back(sum);
      } else {
        TROUPE_ASSIGN(auto* split,
                      add(on.processor, *on.members.front().origin,
                          {.op = "_Pieces",
                           .inputs = {sum},
                           .attrs = {{"count", count},
                                     {"shares", std::vector<int64_t>(on.members.size(), 1)},
                                     {"tells_dims", int64_t{0}}}}));
        for (int64_t k = 0; k < count; ++k)
          results.push_back(split->output(static_cast<int>(k)));
      }
      TROUPE_TRY(hand_out(on, results));
    }
    return {};
  }

  status gather() {
    std::vector<edge> rows;
    for (auto& on : tasks_) {
      const auto& like = *on.members.front().origin;
      TROUPE_ASSIGN(auto mine, pass_on(on.members.front().device, like, on.value, on.before));
      TROUPE_ASSIGN(auto sent, shortened(on.members.front().device, like, mine));
      rows.push_back(sent);
    }
    for (auto& on : tasks_) {
      const auto& like = *on.members.front().origin;
      TROUPE_ASSIGN(auto* joined, add(on.processor, like,
                                      {.op = "_JoinRows",
                                       .inputs = rows,
                                       .attrs = {{"count", static_cast<int64_t>(tasks_.size())},
                                                 {"shares", shares()},
                                                 {"tasks", task_names()},
                                                 {"shape", like.output_shape(0)}}}));
      TROUPE_ASSIGN(auto whole, lengthened(on.processor, like, {joined, 0}));
      TROUPE_TRY(hand_out(on, {whole}));
    }
    return {};
  }

  // The first member of each task gets it over the network, and hands it to the others.
  status broadcast() {
    const member* root = nullptr;
    for (const auto& on : tasks_)
      for (const auto& one : on.members)
        if (is_sender(*one.origin))
          root = &one;
    TROUPE_ASSIGN(auto value, pass_on(root->device, *root->origin, root->origin->inputs()[0],
                                      root->origin->controls()));
    TROUPE_ASSIGN(auto sent, shortened(root->device, *root->origin, value));
    const auto root_task = devices_[static_cast<size_t>(root->device)].on_task();
    for (auto& on : tasks_) {
      auto here = sent;
      const auto first = on.members.front();
      if (devices_[static_cast<size_t>(first.device)].on_task() != root_task) {
        TROUPE_ASSIGN(here, pass_on(first.device, *first.origin, here));
      }
      for (const auto& one : on.members) {
        TROUPE_ASSIGN(auto whole, lengthened(one.device, *one.origin, here));
        TROUPE_ASSIGN(auto mine, receive(one, whole));
        TROUPE_TRY(stand_for(one, mine));
      }
    }
    return {};
  }

  result<edge> receive(const member& one, edge what) {
    const auto& said = one.origin->attr<partial_shape>("shape");
    auto controls = is_sender(*one.origin) ? std::vector<node*>{} : one.origin->controls();
    if (!said.has_rank())
      return pass_on(one.device, *one.origin, what, std::move(controls));
    TROUPE_ASSIGN(auto* made, add(one.device, *one.origin,
                                  {.op = "EnsureShape",
                                   .inputs = {what},
                                   .attrs = {{"shape", said}},
                                   .controls = std::move(controls)}));
    return edge{made, 0};
  }

  step_graph& of_;
  std::vector<int>& chosen_;
  const device_list& devices_;
  const f32_transfer of_session_;
  rewriter with_;
  std::map<const node*, int> placed_;
  int64_t next_ = 0;
  // Of the group that is being rewritten.
  f32_transfer between_tasks_ = f32_transfer::exact;
  collective_call call_ = {};
  int64_t size_ = 0;
  std::vector<task_members> tasks_;
};

} // namespace

result<bool> spread_collectives(step_graph& of, std::vector<int>& chosen,
                                const device_list& devices, f32_transfer between_tasks) {
  auto groups = find_spread_groups(*of.nodes, chosen, devices);
  if (groups.empty())
    return false;
  TROUPE_TRY(spreader{of, chosen, devices, between_tasks}.run(groups));
  return true;
}

} // namespace troupe
