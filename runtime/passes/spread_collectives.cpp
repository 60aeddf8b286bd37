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

// The largest tensor that is sent without splitting it: for smaller tensors, a second hop costs
// more than it saves.
constexpr int64_t max_unsplit_bytes = 8 << 10;
// The size of the pieces into which a task's part is split further, and their largest number.
// Sending a piece overlaps with reducing another.
constexpr int64_t piece_bytes = 4 << 20;
constexpr int64_t max_pieces_per_task = 8;

struct member {
  node* origin = nullptr;
  int device = 0;
};

// The members of a group on one task.
struct task_members {
  std::string task;
  int cpu = 0; // the device that cuts, reduces and joins pieces
  std::vector<member> members = {};
  edge value = {};                // the task's contribution, on the device of its first member
  std::vector<node*> before = {}; // the predecessors of the contribution
  std::vector<node*> local = {};  // the collective nodes within the task, by member
};

using group = std::vector<member>;

std::vector<group> find_spread_groups(const graph& source, const std::vector<int>& chosen,
                                      const device_list& devices) {
  std::map<std::pair<int64_t, int64_t>, group> groups;
  for (const auto& candidate : source.nodes())
    if (is_collective(candidate->op()))
      groups[{candidate->attr<int64_t>("group_key"), candidate->attr<int64_t>("instance_key")}]
          .push_back({candidate.get(), chosen[candidate->index()]});
  std::vector<group> spread;
  for (auto& [keys, members] : groups) {
    auto task_of = [&](const member& candidate) {
      return devices[static_cast<size_t>(candidate.device)].name_of_task();
    };
    auto first = task_of(members.front());
    if (std::ranges::all_of(members,
                            [&](const member& candidate) { return task_of(candidate) == first; }))
      continue;
    std::ranges::sort(members, {}, [&](const member& candidate) {
      return std::tie(devices[static_cast<size_t>(candidate.device)], candidate.origin->name());
    });
    spread.push_back(std::move(members));
  }
  return spread;
}

class spreader {
public:
  spreader(step_graph& step, std::vector<int>& chosen, const device_list& devices,
           f32_transfer between_tasks)
      : step_(step), chosen_(chosen), devices_(devices), session_transfer_(between_tasks),
        rewriter_(step) {
    for (const auto& source_node : step.nodes->nodes())
      placed_[source_node.get()] = chosen[source_node->index()];
  }

  status run(const std::vector<group>& groups) {
    for (const auto& members : groups)
      TROUPE_TRY(spread(members));
    rewriter_.finish();
    chosen_.clear();
    for (const auto& placed_node : step_.nodes->nodes())
      chosen_.push_back(placed_.at(placed_node.get()));
    return {};
  }

private:
  status spread(const group& members) {
    std::vector<placed_member> placed;
    for (const auto& group_member : members)
      placed.push_back({group_member.origin, devices_[static_cast<size_t>(group_member.device)]});
    TROUPE_TRY(check_members(placed));
    call_ = collective_of(*members.front().origin);
    TROUPE_TRY(choose_transfer(members));
    size_ = static_cast<int64_t>(members.size());
    TROUPE_TRY(sort_by_task(members));
    if (call_.kind == collective_kind::broadcast)
      return broadcast();
    TROUPE_TRY(check_dims(members));
    for (auto& task : tasks_)
      TROUPE_TRY(contribute(task));
    switch (call_.kind) {
      case collective_kind::all_gather: return gather();
      case collective_kind::reduce_scatter: return reduce_scatter();
      default: return sends_unsplit() ? reduce_unsplit() : reduce_pieces();
    }
  }

  // All members must get the same bits.
  status choose_transfer(const group& members) {
    const auto& first = *members.front().origin;
    for (const auto& other_member : members)
      if (transfer_of(*other_member.origin) != transfer_of(first))
        return invalid(other_member.origin->description(),
                       ": its floats are encoded for transfer in another way than those of ",
                       first.description(), ": all members of a group must have the same ",
                       transfer_attr);
    between_tasks_ = transfer_of(first).value_or(session_transfer_);
    return {};
  }

  // Shapes that are not known yet are compared when the step runs.
  status check_dims(const group& members) const {
    const auto& first = members.front();
    auto device_of = [&](const member& other_member) {
      return devices_[static_cast<size_t>(other_member.device)];
    };
    for (const auto& other_member : members) {
      const auto &dims = other_member.origin->inputs()[0].dims(),
                 &first_dims = first.origin->inputs()[0].dims();
      if (!dims.compatible(first_dims))
        return invalid(other_member.origin->description(), ": has ", dims, " on ",
                       device_of(other_member), ", but ", first.origin->description(), " has ",
                       first_dims, " on ", device_of(first),
                       ": all members of a group must have one shape");
    }
    return {};
  }

  status sort_by_task(const group& members) {
    tasks_.clear();
    std::vector<task_name> names;
    for (const auto& current_member : members) {
      auto task = devices_[static_cast<size_t>(current_member.device)].name_of_task();
      if (names.empty() || names.back() != task) {
        names.push_back(task);
        auto cpu = std::ranges::find_if(devices_, [&](const device_name& device) {
          return device.name_of_task() == task && kind_of(device) == device_kind::cpu;
        });
        auto is_cpu =
            kind_of(devices_[static_cast<size_t>(current_member.device)]) == device_kind::cpu;
        if (!is_cpu && cpu == devices_.end())
          return failure(error_kind::failed_precondition, current_member.origin->description(),
                         ": ", task,
                         " has no CPU device, which collective operations between tasks need");
        tasks_.push_back(
            {.task = to_string(task),
             .cpu = is_cpu ? current_member.device : static_cast<int>(cpu - devices_.begin())});
      }
      tasks_.back().members.push_back(current_member);
    }
    return {};
  }

  // -- nodes ---------------------------------------------------------------------------------

  result<node*> add(int device, const node& like, node_spec spec) {
    spec.name = concat("spread_", next_++, '/', like.name());
    TROUPE_ASSIGN(auto* added, rewriter_.add(std::move(spec), like));
    rewriter::set_device(*added, to_string(devices_[static_cast<size_t>(device)]));
    placed_[added] = device;
    step_.nodes->set_origin(*added, concat("for ", like.description()));
    return added;
  }

  result<edge> add_identity(int device, const node& like, edge source,
                            std::vector<node*> before = {}) {
    TROUPE_ASSIGN(
        auto* identity,
        add(device, like, {.op = "Identity", .inputs = {source}, .controls = std::move(before)}));
    return edge{identity, 0};
  }

  result<edge> cast(int device, const node& like, edge source, dtype target) {
    auto is_truncated = target == dtype::bf16 && between_tasks_ == f32_transfer::truncated;
    TROUPE_ASSIGN(auto* cast_node, add(device, like,
                                       {.op = "Cast",
                                        .inputs = {source},
                                        .attrs = {{"DstT", target}, {"Truncate", is_truncated}}}));
    return edge{cast_node, 0};
  }

  bool is_sent_in_16_bits() const {
    return between_tasks_ != f32_transfer::exact && call_.type == dtype::f32;
  }
  // Rounds a value as it will be sent, so that the sender has the same bits as the receivers.
  result<edge> to_sent_type(int device, const node& like, edge source) {
    return is_sent_in_16_bits() ? cast(device, like, source, dtype::bf16) : result<edge>{source};
  }
  result<edge> from_sent_type(int device, const node& like, edge source) {
    return is_sent_in_16_bits() ? cast(device, like, source, dtype::f32) : result<edge>{source};
  }

  // Replaces the output of a member.
  status replace_member(const member& old, edge replacement) {
    rewriter_.merge(*old.origin, std::vector<edge>{replacement});
    rewriter_.take_name(*replacement.node, *old.origin);
    if (!rewriter_.is_target(*old.origin))
      step_.targets.push_back(replacement.node);
    return {};
  }

  // Gives each member of a task its result, which is on the task's CPU.
  status distribute(task_members& task, const std::vector<edge>& results) {
    for (size_t i = 0; i < task.members.size(); ++i) {
      const auto& task_member = task.members[i];
      std::vector<node*> before;
      if (!task.local.empty())
        before.push_back(task.local[i]);
      TROUPE_ASSIGN(auto member_result,
                    add_identity(task_member.device, *task_member.origin,
                                 results[results.size() == 1 ? 0 : i], std::move(before)));
      TROUPE_TRY(replace_member(task_member, member_result));
    }
    return {};
  }

  // -- within a task -------------------------------------------------------------------------

  // Computes a task's contribution, with a local collective if the task has several members.
  status contribute(task_members& task) {
    const auto& first = *task.members.front().origin;
    if (task.members.size() == 1) {
      task.before = first.controls();
      task.value = first.inputs()[0];
      return {};
    }
    auto is_gather = call_.kind == collective_kind::all_gather;
    for (const auto& task_member : task.members) {
      attr_map attrs{{"group_size", static_cast<int64_t>(task.members.size())},
                     {"group_key", task_member.origin->attr<int64_t>("group_key")},
                     {"instance_key", task_member.origin->attr<int64_t>("instance_key")}};
      if (!is_gather) {
        attrs["merge_op"] = task_member.origin->attr<std::string>("merge_op");
        attrs["final_op"] = std::string{"Id"};
      }
      TROUPE_ASSIGN(auto* local_node,
                    add(task_member.device, *task_member.origin,
                        {.op = is_gather ? "CollectiveGather" : "CollectiveReduce",
                         .inputs = {task_member.origin->inputs()[0]},
                         .attrs = std::move(attrs),
                         .controls = task_member.origin->controls()}));
      task.local.push_back(local_node);
    }
    task.value = {task.local.front(), 0};
    return {};
  }

  // -- between tasks -------------------------------------------------------------------------

  std::vector<std::string> task_names() const {
    std::vector<std::string> list;
    for (const auto& task : tasks_)
      list.push_back(task.task);
    return list;
  }
  std::vector<int64_t> shares() const {
    std::vector<int64_t> list;
    for (const auto& task : tasks_)
      list.push_back(static_cast<int64_t>(task.members.size()));
    return list;
  }

  result<edge> reduce(size_t owner, std::vector<edge> parts, std::vector<edge> dims,
                      bool own_is_shared) {
    const auto& owner_task = tasks_[owner];
    const auto& like = *owner_task.members.front().origin;
    auto dims_count = static_cast<int64_t>(dims.size());
    parts.insert(parts.end(), dims.begin(), dims.end());
    TROUPE_ASSIGN(auto* reduced,
                  add(owner_task.cpu, like,
                      {.op = "_ReducePieces",
                       .inputs = std::move(parts),
                       .attrs = {{"count", static_cast<int64_t>(tasks_.size())},
                                 {"dims_count", dims_count},
                                 {"merge_op", like.attr<std::string>("merge_op")},
                                 {"divide_by", call_.average ? size_ : int64_t{1}},
                                 {"own", own_is_shared ? static_cast<int64_t>(owner) : int64_t{-1}},
                                 {"tasks", task_names()}}}));
    return edge{reduced, 0};
  }

  // Returns the shape of the inputs if it is known for all members.
  partial_shape known_dims() const {
    for (const auto& task : tasks_)
      for (const auto& task_member : task.members)
        if (!task_member.origin->inputs()[0].dims().fully_known())
          return {};
    return tasks_.front().members.front().origin->inputs()[0].dims();
  }

  bool sends_unsplit() const {
    auto dims = known_dims();
    return dims.fully_known() && !is_sent_in_16_bits() &&
           dims.known().elements() <= max_unsplit_bytes / static_cast<int64_t>(size_of(call_.type));
  }

  // Sends each task's complete tensor to all tasks.
  status reduce_unsplit() {
    std::vector<edge> parts;
    for (auto& task : tasks_) {
      TROUPE_ASSIGN(auto contribution,
                    add_identity(task.members.front().device, *task.members.front().origin,
                                 task.value, task.before));
      parts.push_back(contribution);
    }
    for (size_t i = 0; i < tasks_.size(); ++i) {
      TROUPE_ASSIGN(auto sum, reduce(i, parts, {}, true));
      TROUPE_TRY(distribute(tasks_[i], {sum}));
    }
    return {};
  }

  int64_t pieces_per_task() const {
    auto dims = known_dims();
    if (!dims.fully_known())
      return 1;
    auto bytes = estimated_bytes(call_.type, dims);
    return std::clamp<int64_t>(bytes / static_cast<int64_t>(tasks_.size()) / piece_bytes, 1,
                               max_pieces_per_task);
  }

  result<node*> cut(task_members& task, int64_t count, std::vector<int64_t> shares,
                    bool tells_dims) {
    return add(task.cpu, *task.members.front().origin,
               {.op = "_Pieces",
                .inputs = {task.value},
                .attrs = {{"count", count},
                          {"shares", std::move(shares)},
                          {"tells_dims", int64_t{tells_dims ? 1 : 0}}},
                .controls = task.before});
  }

  status reduce_pieces() {
    const auto pieces_of_task = pieces_per_task();
    const auto count = pieces_of_task * static_cast<int64_t>(tasks_.size());
    const auto tells_dims = !known_dims().fully_known();
    std::vector<node*> cuts;
    for (auto& task : tasks_) {
      TROUPE_ASSIGN(auto* pieces, cut(task, count, {}, tells_dims));
      cuts.push_back(pieces);
    }
    std::vector<edge> dims, reduced;
    if (tells_dims)
      for (auto* task_cut : cuts)
        dims.push_back(task_cut->output(static_cast<int>(count)));
    for (int64_t i = 0; i < count; ++i) {
      const auto owner = static_cast<size_t>(i / pieces_of_task);
      const auto& task = tasks_[owner];
      std::vector<edge> parts;
      for (auto* task_cut : cuts)
        parts.push_back(task_cut->output(static_cast<int>(i)));
      TROUPE_ASSIGN(auto sum,
                    reduce(owner, std::move(parts), i == 0 ? dims : std::vector<edge>{}, true));
      TROUPE_ASSIGN(auto sent, to_sent_type(task.cpu, *task.members.front().origin, sum));
      reduced.push_back(sent);
    }
    for (auto& task : tasks_) {
      const auto& like = *task.members.front().origin;
      auto inputs = reduced;
      if (tells_dims)
        inputs.push_back(task.value);
      TROUPE_ASSIGN(auto* joined,
                    add(task.cpu, like,
                        {.op = "_JoinPieces",
                         .inputs = std::move(inputs),
                         .attrs = {{"count", count},
                                   {"like_count", int64_t{tells_dims ? 1 : 0}},
                                   {"U", call_.type},
                                   {"shape", tells_dims ? like.output_shape(0) : known_dims()}}}));
      TROUPE_ASSIGN(auto joined_value, from_sent_type(task.cpu, like, {joined, 0}));
      TROUPE_TRY(distribute(task, {joined_value}));
    }
    return {};
  }

  // Each task owns the pieces of its members.
  status reduce_scatter() {
    std::vector<node*> cuts;
    for (auto& task : tasks_) {
      TROUPE_ASSIGN(auto* pieces, cut(task, static_cast<int64_t>(tasks_.size()), shares(), false));
      cuts.push_back(pieces);
    }
    for (size_t i = 0; i < tasks_.size(); ++i) {
      auto& task = tasks_[i];
      std::vector<edge> parts, results;
      for (auto* task_cut : cuts)
        parts.push_back(task_cut->output(static_cast<int>(i)));
      TROUPE_ASSIGN(auto sum, reduce(i, std::move(parts), {}, true));
      const auto count = static_cast<int64_t>(task.members.size());
      if (count == 1) {
        results.push_back(sum);
      } else {
        TROUPE_ASSIGN(auto* split,
                      add(task.cpu, *task.members.front().origin,
                          {.op = "_Pieces",
                           .inputs = {sum},
                           .attrs = {{"count", count},
                                     {"shares", std::vector<int64_t>(task.members.size(), 1)},
                                     {"tells_dims", int64_t{0}}}}));
        for (int64_t k = 0; k < count; ++k)
          results.push_back(split->output(static_cast<int>(k)));
      }
      TROUPE_TRY(distribute(task, results));
    }
    return {};
  }

  status gather() {
    std::vector<edge> rows;
    for (auto& task : tasks_) {
      const auto& like = *task.members.front().origin;
      TROUPE_ASSIGN(auto contribution,
                    add_identity(task.members.front().device, like, task.value, task.before));
      TROUPE_ASSIGN(auto sent, to_sent_type(task.members.front().device, like, contribution));
      rows.push_back(sent);
    }
    for (auto& task : tasks_) {
      const auto& like = *task.members.front().origin;
      TROUPE_ASSIGN(auto* joined, add(task.cpu, like,
                                      {.op = "_JoinRows",
                                       .inputs = rows,
                                       .attrs = {{"count", static_cast<int64_t>(tasks_.size())},
                                                 {"shares", shares()},
                                                 {"tasks", task_names()},
                                                 {"shape", like.output_shape(0)}}}));
      TROUPE_ASSIGN(auto joined_value, from_sent_type(task.cpu, like, {joined, 0}));
      TROUPE_TRY(distribute(task, {joined_value}));
    }
    return {};
  }

  // The first member of each task receives the value and passes it to the other members.
  status broadcast() {
    const member* root = nullptr;
    for (const auto& task : tasks_)
      for (const auto& task_member : task.members)
        if (is_sender(*task_member.origin))
          root = &task_member;
    TROUPE_ASSIGN(auto value, add_identity(root->device, *root->origin, root->origin->inputs()[0],
                                           root->origin->controls()));
    TROUPE_ASSIGN(auto sent, to_sent_type(root->device, *root->origin, value));
    const auto root_task = devices_[static_cast<size_t>(root->device)].name_of_task();
    for (auto& task : tasks_) {
      auto received = sent;
      const auto first = task.members.front();
      if (devices_[static_cast<size_t>(first.device)].name_of_task() != root_task) {
        TROUPE_ASSIGN(received, add_identity(first.device, *first.origin, received));
      }
      for (const auto& task_member : task.members) {
        TROUPE_ASSIGN(auto restored,
                      from_sent_type(task_member.device, *task_member.origin, received));
        TROUPE_ASSIGN(auto member_result, receive(task_member, restored));
        TROUPE_TRY(replace_member(task_member, member_result));
      }
    }
    return {};
  }

  result<edge> receive(const member& receiver, edge source) {
    const auto& declared = receiver.origin->attr<partial_shape>("shape");
    auto controls =
        is_sender(*receiver.origin) ? std::vector<node*>{} : receiver.origin->controls();
    if (!declared.has_rank())
      return add_identity(receiver.device, *receiver.origin, source, std::move(controls));
    TROUPE_ASSIGN(auto* checked, add(receiver.device, *receiver.origin,
                                     {.op = "EnsureShape",
                                      .inputs = {source},
                                      .attrs = {{"shape", declared}},
                                      .controls = std::move(controls)}));
    return edge{checked, 0};
  }

  step_graph& step_;
  std::vector<int>& chosen_;
  const device_list& devices_;
  const f32_transfer session_transfer_;
  rewriter rewriter_;
  std::map<const node*, int> placed_;
  int64_t next_ = 0;
  // The group that is being rewritten.
  f32_transfer between_tasks_ = f32_transfer::exact;
  collective_call call_ = {};
  int64_t size_ = 0;
  std::vector<task_members> tasks_;
};

} // namespace

result<bool> spread_collectives(step_graph& step, std::vector<int>& chosen,
                                const device_list& devices, f32_transfer between_tasks) {
  auto groups = find_spread_groups(*step.nodes, chosen, devices);
  if (groups.empty())
    return false;
  TROUPE_TRY(spreader{step, chosen, devices, between_tasks}.run(groups));
  return true;
}

} // namespace troupe
