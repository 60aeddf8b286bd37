#include "troupe/runtime/graph/registry.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <numeric>

namespace troupe {
namespace {

status check(const op_def& op) {
  auto defect = [&](const auto&... parts) {
    return failure(error_kind::internal, "op ", op.name, ": ", parts...);
  };
  if (op.name.empty() || op.name.front() == '_')
    return defect("names must not be empty, and names that begin with _ are reserved for the "
                  "runtime");
  if (!op.infer)
    return defect("has no shape function");
  for (const auto& attr : op.attrs)
    if (op.find_attr(attr.name) != &attr)
      return defect("declares attribute ", attr.name, " twice");
  if (op.state_kind != resource::none && !op.create_state && !op.make_waitable_resource)
    return defect("has no function that creates the ", to_string(op.state_kind));
  for (const auto& declared : op.inputs)
    if (has_operations(declared.state_kind) && !op.start_operation)
      return defect("takes a ", to_string(declared.state_kind), " without an operation on it");
  if (op.start_operation && !has(op.effects, effect::blocking))
    return defect("starts an operation without waiting for its answer");
  if (op.start_operation && op.state_kind == resource::none &&
      (op.inputs.empty() || !has_operations(op.inputs[0].state_kind)))
    return defect("starts an operation, but its first input has no operations");
  for (const auto* ports : {&op.inputs, &op.outputs})
    for (const auto& declared : *ports) {
      auto* type = op.find_attr(declared.type);
      if (!((declared.ref || declared.handle) && declared.type.empty()) &&
          !dtype_from(declared.type) &&
          !(type && (type->kind == attr_kind::type || type->kind == attr_kind::types)))
        return defect("port ", declared.name, " has the unknown type ", declared.type);
      if (auto* count = op.find_attr(declared.count);
          !declared.count.empty() && (!count || count->kind != attr_kind::integer))
        return defect("port ", declared.name, " has the unknown count ", declared.count);
    }
  return {};
}

} // namespace

struct registry::second_name {
  explicit second_name(const op_def& first)
      : doc(concat(first.doc.substr(0, first.doc.find("\n\n")), "\n\nThe same as ", first.name,
                   " in all but its name, for graphs that use this one.")),
        example(replace_word(first.example, first.name, first.second_name)), op(first) {
    op.name = first.second_name;
    op.second_name = {};
    op.doc = doc;
    op.example = example;
  }

  std::string doc;
  std::string example;
  op_def op;
};

registry::registry() {
  for (const auto* op : internal_ops::definitions)
    ops_.emplace(op->name, op);
}

status registry::add(const op_def& op) {
  TROUPE_TRY(check(op));
  if (!ops_.emplace(op.name, &op).second)
    return failure(error_kind::already_exists, "op ", op.name, " is registered already");
  if (has(op.effects, effect::data_dependent_shape)) {
    auto added = std::make_shared<const two_phase_op>(op);
    for (auto* half : {&added->first, &added->second})
      ops_.emplace(half->name, half);
    two_phase_ops_.emplace(op.name, std::move(added));
  }
  if (!op.by_handle.name.empty() && !op.by_handle.defined) {
    auto added = std::make_shared<handle_op>(op);
    if (!ops_.emplace(added->op.name, &added->op).second)
      return failure(error_kind::already_exists, "op ", added->op.name, " is registered already");
    handle_ops_.emplace(op.name, std::move(added));
  }
  return op.second_name.empty() ? status{} : add_second_name(op);
}

status registry::add_second_name(const op_def& op) {
  if (has(op.effects, effect::data_dependent_shape))
    return failure(error_kind::internal, "op ", op.name,
                   ": ops with data-dependent shapes can't have a second name");
  auto added = std::make_shared<const second_name>(op);
  if (!ops_.emplace(op.second_name, &added->op).second)
    return failure(error_kind::already_exists, "op ", op.second_name, " is registered already");
  second_names_.emplace(op.name, std::move(added));
  return {};
}

status registry::add(const kernel_def& kernel) {
  if (kernel.run.empty() || std::ranges::count(kernel.run, nullptr, &typed_kernel::run) > 0)
    return failure(error_kind::internal, "the ", to_string(kernel.device), " kernel of ", kernel.op,
                   " lacks a function");
  for (auto device : {device_kind::cpu, device_kind::gpu})
    if (device == kernel.device || kernel.on_any_device)
      if (!kernels_.emplace(std::pair{kernel.op, device}, &kernel).second)
        return failure(error_kind::already_exists, "op ", kernel.op, " has a ", to_string(device),
                       " kernel already");
  if (auto registered = second_names_.find(kernel.op); registered != second_names_.end())
    for (auto device : {device_kind::cpu, device_kind::gpu})
      if (device == kernel.device || kernel.on_any_device)
        kernels_.emplace(std::pair{registered->second->op.name, device}, &kernel);
  if (auto registered = handle_ops_.find(kernel.op); registered != handle_ops_.end()) {
    const auto& handle_kernel = registered->second->add(kernel);
    for (auto device : {device_kind::cpu, device_kind::gpu})
      if (device == handle_kernel.device || handle_kernel.on_any_device)
        kernels_.emplace(std::pair{handle_kernel.op, device}, &handle_kernel);
  }
  if (auto registered = two_phase_ops_.find(kernel.op);
      registered != two_phase_ops_.end() && kernel.device != device_kind::cpu)
    for (auto* phase : {&registered->second->first, &registered->second->second})
      kernels_.emplace(std::pair{phase->name, kernel.device}, &kernel);
  return {};
}

status registry::add(const work_def& work) {
  auto op = ops_.find(work.op);
  if (op == ops_.end() || !work.run || !has(op->second->effects, effect::blocking) ||
      op->second->start_operation)
    return failure(error_kind::internal, "the long work of ", work.op,
                   " lacks a function, or the op does not wait for it");
  if (!work_.emplace(op->second->name, work.run).second)
    return failure(error_kind::already_exists, "op ", work.op, " has long work already");
  return {};
}

work_fn registry::find_work(std::string_view op) const noexcept {
  auto found_work = work_.find(op);
  return found_work == work_.end() ? nullptr : found_work->second;
}

result<const op_def*> registry::find_op(std::string_view name) const {
  if (auto registered = ops_.find(name); registered != ops_.end())
    return registered->second;
  std::vector<std::string_view> names;
  for (const auto& [known, op] : ops_)
    if (!known.starts_with('_')) // reserved for the runtime
      names.push_back(known);
  return failure(error_kind::not_found, "there is no op '", name, "'", did_you_mean(name, names));
}

const kernel_def* registry::find_kernel(std::string_view op, device_kind device) const noexcept {
  auto registered = kernels_.find({op, device});
  return registered == kernels_.end() ? nullptr : registered->second;
}

std::vector<const op_def*> registry::ops() const {
  std::vector<const op_def*> definitions;
  for (const auto& [name, op] : ops_)
    definitions.push_back(op);
  return definitions;
}

std::string_view to_string(device_kind kind) noexcept {
  return kind == device_kind::cpu ? "cpu" : "gpu";
}

std::vector<std::string> similar(std::string_view name,
                                 const std::vector<std::string_view>& candidates) {
  auto to_lower = [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  };
  auto distance_to = [&](std::string_view other) { // Levenshtein's, ignoring case
    std::vector<size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < name.size(); ++i) {
      auto diagonal = row[0]++;
      for (size_t j = 0; j < other.size(); ++j) {
        auto replaced = diagonal + (to_lower(name[i]) != to_lower(other[j]));
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
      }
    }
    return row.back();
  };
  std::vector<std::pair<size_t, std::string_view>> ranked;
  for (auto candidate : candidates) {
    auto longest = std::max(name.size(), candidate.size());
    if (longest > 200 || longest - std::min(name.size(), candidate.size()) > longest / 2)
      continue;
    if (auto edit_distance = distance_to(candidate); edit_distance <= longest / 3 + 1)
      ranked.emplace_back(edit_distance, candidate);
  }
  std::ranges::sort(ranked);
  std::vector<std::string> best;
  for (const auto& [edit_distance, candidate] : ranked)
    if (best.size() < 3 && edit_distance <= ranked.front().first + 1)
      best.emplace_back(candidate);
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates) {
  auto best = similar(name, candidates);
  if (best.empty())
    return {};
  std::string text = ", did you mean ";
  for (size_t i = 0; i < best.size(); ++i)
    text += concat(i == 0 ? "" : i + 1 == best.size() ? " or " : ", ", '\'', best[i], '\'');
  return text + '?';
}

} // namespace troupe
