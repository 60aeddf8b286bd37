// Turns a partition's graph into a program.
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/program/code_writer.hpp"
#include "troupe/runtime/program/collective.hpp"
#include "troupe/runtime/program/order_effects.hpp"
#include "troupe/runtime/program/pending_inputs.hpp"
#include "troupe/runtime/program/program.hpp"
#include "troupe/runtime/program/regions.hpp"
#include "troupe/runtime/program/replay.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace troupe {
namespace {

// Returns whether a call runs functions a number of times that depends on data: in a loop, or by
// recursion.
bool may_loop(const node& call) {
  std::vector<const node*> open{&call};
  std::set<const function*> seen;
  while (!open.empty()) {
    const auto* current = open.back();
    open.pop_back();
    if (current->op().calls == call_kind::while_true)
      return true;
    for (const auto* callee : functions_of(*current)) {
      if (!callee->body)
        return true;
      if (seen.insert(&*callee->body).second)
        for (const auto& inner : callee->body->body().nodes())
          if (runs_functions(inner->op()))
            open.push_back(inner.get());
    }
  }
  return false;
}

} // namespace

// Writes a program region by region: first finds the tensors and tokens that each region needs from
// others, then writes its code.
class compiler final : code_writer {
public:
  compiler(program_writer& writer, const region_options& options)
      : code_writer(writer, *writer.out.graph_), options_(options),
        regions_(find_regions(graph_, options)), imports_(regions_.count), after_(regions_.count),
        members_(regions_.count) {}

  status run() {
    out_.regions_.resize(regions_.count);
    for (const auto& node : graph_.nodes())
      TROUPE_TRY(find_needs(*node));
    out_.regions_[0].required_tokens = 1; // the start
    for (uint32_t r = 1; r < regions_.count; ++r)
      if (out_.regions_[r].required_tokens == 0) { // no other region would start it
        out_.regions_[r].required_tokens = 1;
        started_.push_back(r);
      }
    for (uint32_t r = 0; r < regions_.count; ++r)
      TROUPE_TRY(write_region(r));
    for (auto& region : out_.regions_)
      release(region);
    estimate_costs();
    for (const auto& unresolved : drafts_)
      out_.code_.push_back(resolved(unresolved, out_));
    writer_.finish();
    std::ranges::sort(out_.constants_, {}, &constant_point::slot);
    out_.slots_ = slots_;
    return {};
  }

private:
  using endpoint = std::pair<const node*, int>;

  uint32_t region_of(const node& node) const {
    return regions_.region_of_node[static_cast<size_t>(node.id())];
  }
  uint32_t issue_region(const node& node) const {
    return regions_.issuing_region[static_cast<size_t>(node.id())];
  }
  bool has_op(const node& node, const op_def& op) const { return &node.op() == &op; }

  // Assigns slots to the outputs of a node, and a token to each tensor or order that crosses
  // regions.
  status find_needs(node& n) {
    auto later = [&](const node* before) { return before->id() >= n.id(); };
    if (std::ranges::any_of(n.inputs(), later, &edge::node) ||
        std::ranges::any_of(n.controls(), later))
      return failure(error_kind::internal, n.description(),
                     ": comes before a node that it depends on");
    auto to_region = issue_region(n);
    members_[to_region].push_back(&n);
    for (int i = 0; i < static_cast<int>(n.inputs().size()); ++i) {
      const auto& from = n.inputs()[static_cast<size_t>(i)];
      if (needs_no_run(*from.node) && !has_op(*from.node, internal_ops::feed))
        continue; // it does not run: there is no token to wait for
      if (from.node->output_is_ref(from.index))
        need_order(*from.node, to_region);
      else
        need_tensor(from, to_region);
      if (accelerator_ && has_op(*from.node, internal_ops::recv))
        record_use(wait_of_.at(from.node), n, i);
      else if (accelerator_ && may_arrive_on_device(*from.node) &&
               kernel_sites_.wants_on_host(n, i))
        record_reader_on_host(from);
    }
    for (auto* before : n.controls())
      need_order(*before, to_region);
    if (has(n.op().effects, effect::blocking))
      TROUPE_TRY(add_wait(n));
    first_slot_[&n] = slots_;
    slots_ += static_cast<uint32_t>(n.outputs());
    if (has_op(n, internal_ops::feed))
      out_.feeds_.push_back({static_cast<uint32_t>(n.attr<int64_t>("index")), first_slot_[&n], &n});
    return {};
  }

  // Returns whether the outputs may arrive on the device: elements of queues, and arguments and
  // results of frames.
  bool may_arrive_on_device(const node& wait) const {
    return wait.op().start_operation || has_op(wait, internal_ops::frame) ||
           has_op(wait, internal_ops::frame_argument);
  }

  void record_use(uint32_t wait, const node& consumer, int input) {
    if (kernel_sites_.wants_on_host(consumer, input))
      read_by_host_.insert(wait);
    out_.waits_[wait].on_device =
        !read_by_host_.contains(wait) &&
        (out_.waits_[wait].on_device || kernel_sites_.wants_on_device(consumer, input));
  }

  void record_reader_on_host(edge value) {
    auto& read = out_.waits_[wait_of_.at(value.node)].on_host;
    read.resize(static_cast<size_t>(value.node->outputs()));
    read[static_cast<size_t>(value.index)] = true;
  }

  void need_tensor(edge from, uint32_t to_region) {
    auto from_region = region_of(*from.node);
    if (from_region == to_region)
      return;
    auto [slot, is_new] = imports_[to_region].emplace(endpoint{from.node, from.index}, 0);
    if (!is_new)
      return;
    slot->second = slots_++;
    tokens_[{from.node, from.index}].emplace_back(to_region, slot->second);
    ++out_.regions_[to_region].required_tokens;
  }

  void need_order(const node& before, uint32_t to_region) {
    auto from_region = region_of(before);
    if (from_region == to_region)
      return;
    auto [last, is_new] = after_[from_region].emplace(to_region, &before);
    if (is_new)
      ++out_.regions_[to_region].required_tokens;
    else if (before.id() > last->second->id())
      last->second = &before;
  }

  status add_wait(node& node) {
    wait_point wait{.origin = &node, .region = region_of(node)};
    if (node.op().start_operation) {
      wait.answered_by = answer_source::state;
      wait.state =
          node.op().state_kind != resource::none ? &node : resource_behind(node.inputs()[0]);
      if (!wait.state || !wait.state->op().make_waitable_resource ||
          (&node != wait.state && wait.state->op().state_kind != node.op().inputs[0].state_kind))
        return invalid(node.description(), ": its first input must be a ",
                       to_string(node.op().inputs[0].state_kind));
      if (node.op().inputs.size() > 1 && has_operations(node.op().inputs[1].state_kind)) {
        const auto& port = node.op().inputs[1];
        wait.source = resource_behind(node.inputs()[1]);
        if (!wait.source || !wait.source->op().make_waitable_resource ||
            wait.source->op().state_kind != port.state_kind)
          return invalid(node.description(), ": its second input must be a ",
                         to_string(port.state_kind));
      }
    } else if (is_collective(node.op())) {
      wait.answered_by = answer_source::group;
    } else if (node.graph().ops().find_work(node.op().name)) {
      wait.answered_by = answer_source::work;
    } else if (has_op(node, internal_ops::frame)) {
      wait.answered_by = answer_source::frame;
    } else if (has_op(node, internal_ops::frame_argument)) {
      wait.answered_by = answer_source::caller;
    } else if (!has_op(node, internal_ops::recv) && !has_op(node, internal_ops::recv_control)) {
      return failure(error_kind::unimplemented, node.description(), ": nothing answers this wait");
    }
    for (int i = 0; i < node.outputs(); ++i)
      wait.slots.push_back(slots_ + static_cast<uint32_t>(i));
    ++out_.regions_[wait.region].required_tokens; // the answer
    wait_of_[&node] = static_cast<uint32_t>(out_.waits_.size());
    out_.waits_.push_back(std::move(wait));
    return {};
  }

  uint32_t slot_of(edge from) const override {
    if (region_of(*from.node) == region_)
      return first_slot_.at(from.node) + static_cast<uint32_t>(from.index);
    return imports_[region_].at({from.node, from.index});
  }

  void on_outputs_written(const node& node) override { write_tokens(node); }

  status write_region(uint32_t number) {
    region_ = number;
    auto& region = out_.regions_[number];
    region.first = static_cast<uint32_t>(drafts_.size());
    std::multimap<const node*, uint32_t> orders; // regions that need a token once a node has run
    for (auto [target, last] : after_[number])
      orders.emplace(last, target);
    auto write_orders = [&](const node& last) {
      auto [begin, end] = orders.equal_range(&last);
      for (auto order = begin; order != end; ++order)
        add(action::token, nullptr).code.target = order->second;
    };
    if (number == 0)
      for (auto target : started_)
        add(action::token, nullptr).code.target = target;
    // Another region may need the answer to a wait immediately.
    for (const auto& wait : out_.waits_)
      if (wait.region == number) {
        write_tokens(*wait.origin);
        write_orders(*wait.origin);
      }
    for (auto* node : members_[number]) {
      TROUPE_TRY(write_node(*node));
      if (region_of(*node) == number)
        write_orders(*node);
    }
    region.count = static_cast<uint32_t>(drafts_.size()) - region.first;
    return {};
  }

  status write_node(node& node) {
    if (has_op(node, internal_ops::feed)) {
      write_tokens(node);
      return {};
    }
    if (node.op().state_kind != resource::none && !node.op().start_operation)
      return {}; // stands for state and runs no kernel
    if (!accelerator_ && node.op().name == "Const")
      return keep_constant(node);
    if (node.inputs().size() > UINT16_MAX || node.outputs() > UINT16_MAX)
      return invalid(node.description(), ": has more than ", UINT16_MAX, " inputs or outputs");
    if (has_op(node, internal_ops::read))
      return write_read(node);
    TROUPE_ASSIGN(auto operands, gather(node));
    if (has(node.op().effects, effect::blocking)) {
      if (has_op(node, internal_ops::recv) || has_op(node, internal_ops::recv_control) ||
          has_op(node, internal_ops::frame_argument))
        return {};
      auto& code = add(action::wait, &node);
      for (auto slot : operands.slots)
        add_input(code, slot);
      code.code.target = wait_of_.at(&node);
      return {};
    }
    if (has_op(node, internal_ops::fetch) || has_op(node, internal_ops::frame_result)) {
      auto& code = add(action::fetch, &node);
      add_input(code, operands.slots[0]);
      code.code.target = static_cast<uint32_t>(node.attr<int64_t>("index"));
      out_.fetches_.push_back(code.code.target);
      return {};
    }
    if (has_op(node, internal_ops::send) || has_op(node, internal_ops::send_control)) {
      auto& code = add(action::send, &node);
      for (auto slot : operands.slots)
        add_input(code, slot);
      code.code.target = static_cast<uint32_t>(out_.exports_.size());
      out_.exports_.push_back(
          {static_cast<uint32_t>(node.attr<int64_t>("key")), node.attr<std::string>("to"), &node});
      return {};
    }
    return runs_functions(node.op()) ? write_call(node, operands) : write_kernel(node, operands);
  }

  // Keeps a constant in its slot. As an instruction, it would run in each step and change the
  // tensor's reference count.
  status keep_constant(const node& node) {
    auto slot = first_slot_.at(&node);
    out_.constants_.push_back({slot, node.attr<tensor>("value"), &node});
    constant_slots_.insert(slot);
    write_tokens(node);
    return {};
  }

  result<named_state*> state_behind(const node& maker) override {
    auto [entry, is_new] = known_.emplace(&maker, nullptr);
    if (is_new && maker.op().per_step) {
      auto temporary =
          std::static_pointer_cast<variable>(maker.op().create_state(maker, maker.name()));
      temporary->set_index_in_step(static_cast<int>(out_.temporaries_.size()));
      entry->second = temporary.get();
      out_.temporaries_.push_back(std::move(temporary));
    } else if (is_new) {
      auto state = writer_.find_state(maker);
      if (!state)
        return with_node_context(maker, state.status());
      entry->second = state->get();
      out_.named_.push_back(*std::move(state));
    }
    return entry->second;
  }

  // Sends tensors to other regions as soon as they are computed.
  void write_tokens(const node& node) {
    for (int i = 0; i < node.outputs(); ++i) {
      auto targets = tokens_.find({&node, i});
      if (targets == tokens_.end())
        continue;
      for (auto [target, slot] : targets->second) {
        auto& code = add(action::token, &node);
        add_input(code, first_slot_.at(&node) + static_cast<uint32_t>(i));
        code.code.target = target;
        code.code.first_output = slot; // in the other region
      }
    }
  }

  void release(const region& region) {
    auto read = release_after_last_use(region.first, region.count);
    // Answers and feeds that are never read are dropped: no instruction would release them.
    for (auto& wait : out_.waits_)
      if (&out_.regions_[wait.region] == &region)
        for (auto& slot : wait.slots)
          if (!read.contains(slot))
            slot = UINT32_MAX;
    if (&region == &out_.regions_[0])
      std::erase_if(out_.feeds_, [&](const auto& feed) { return !read.contains(feed.slot); });
  }

  // Estimates the costs of regions, and marks the tokens at which the remainder of a region is
  // worth another thread.
  void estimate_costs() {
    for (auto& region : out_.regions_)
      for (auto position = region.first; position < region.first + region.count; ++position)
        if (const auto& code = drafts_[position].code; code.kind == action::call)
          region.has_loops = region.has_loops || may_loop(*code.origin);
    if (accelerator_)
      return; // launching is cheap, whatever the kernel costs
    auto min_cost = min_dispatch_cost(options_);
    for (auto& region : out_.regions_)
      for (auto position = region.first + region.count; position-- > region.first;) {
        auto& code = drafts_[position].code;
        if (code.kind == action::run || code.kind == action::call)
          region.nanoseconds += expected_nanoseconds(*code.origin, options_.measured);
        code.long_tail = code.kind == action::token && region.nanoseconds >= min_cost;
      }
    for (auto& region : out_.regions_)
      region.is_heavy = region.nanoseconds >= min_cost;
  }

  const region_options& options_;
  region_map regions_;
  std::vector<std::map<endpoint, uint32_t>> imports_;  // per region: slots of tensors of others
  std::vector<std::map<uint32_t, const node*>> after_; // per region: regions that wait for a node
  std::vector<uint32_t> started_;                      // regions that need only the start
  std::vector<std::vector<node*>> members_;            // per region, in order
  std::map<endpoint, std::vector<std::pair<uint32_t, uint32_t>>> tokens_; // to (region, slot)
  std::map<const node*, uint32_t> wait_of_;
  std::set<uint32_t> read_by_host_; // waits whose values the host reads
  std::map<const node*, named_state*> known_;
};

result<std::shared_ptr<const program>>
program::compile(std::unique_ptr<graph> partition, troupe::device& device,
                 const state_finder& find_state, const region_options& options,
                 const kernel_state_finder& find_kernel_state) {
  std::shared_ptr<program> compiled{new program};
  compiled->graph_ = std::move(partition);
  compiled->device_ = &device;
  order_effects(*compiled->graph_, options.strict_order);
  auto regions = options;
  if (device.as_accelerator())
    regions.workers = 1; // an accelerator runs all kernels in one stream
  program_writer writer{*compiled, find_state, find_kernel_state, !options.region_per_node, {},
                        {},        {}};
  TROUPE_TRY(compiler{writer, regions}.run());
  uint32_t records = 0;
  for (auto& code_block : compiled->blocks_) {
    code_block.first_record = records;
    records += static_cast<uint32_t>(code_block.code.size());
  }
  if (device.as_accelerator())
    compiled->pending_inputs_ = find_pending_inputs(*compiled);
  compiled->replays_.resize(compiled->regions_.size());
  if (device.as_accelerator() && options.replay)
    for (uint32_t r = 0; r < compiled->regions_.size(); ++r)
      compiled->replays_[r] = region_replay::make(*compiled, r);
  return std::shared_ptr<const program>{std::move(compiled)};
}

status program::check_state() const {
  for (const auto& state : named_)
    if (state->retired())
      return failure(error_kind::aborted, state->kind(), " '", state->name(),
                     "' was reset and is declared otherwise since: prepare the step again");
  return {};
}

std::string program::describe() const {
  std::ostringstream out;
  for (const auto& constant : constants_)
    out << "constant " << constant.origin->name() << " -> " << constant.slot << '\n';
  for (size_t r = 0; r < regions_.size(); ++r) {
    out << "region " << r << ", after " << regions_[r].required_tokens << " tokens:\n";
    for (uint32_t i = 0; i < regions_[r].count; ++i) {
      const auto& code = code_[regions_[r].first + i];
      constexpr const char* names[] = {"run",  "run on the host", "upload", "call",
                                       "read", "token to region", "send",   "fetch",
                                       "wait"};
      out << "  " << names[static_cast<size_t>(code.kind)];
      if (code.kind > action::read)
        out << ' ' << code.target;
      if (code.origin)
        out << ' ' << code.origin->op().name << " '" << code.origin->name() << '\'';
      for (uint16_t k = 0; k < code.input_count; ++k)
        out << (k ? ", " : " (") << code.inputs[k] << (k + 1 == code.input_count ? ")" : "");
      if (code.output_count)
        out << " -> " << code.first_output;
      out << '\n';
    }
  }
  return std::move(out).str();
}

} // namespace troupe
