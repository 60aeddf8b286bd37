#include "troupe/runtime/graph/signature.hpp"

#include "troupe/runtime/graph/colocation.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/graph/transfer_attr.hpp"

#include <sstream>

namespace troupe {
namespace {

// Inputs are matched with ports from left to right; this keeps what was learned on the way.
class matcher {
public:
  matcher(const op_def& op, const std::vector<edge>& inputs, attr_map attrs)
      : op_(op), inputs_(inputs), runs_functions_(runs_functions(op)) {
    out_.attrs = std::move(attrs);
  }

  result<matched_signature> run() {
    TROUPE_TRY(check_given());
    TROUPE_TRY(deduce_counts());
    size_t next = 0;
    for (const auto& at : op_.inputs)
      TROUPE_TRY(match_input(at, next));
    if (next != inputs_.size())
      return wrong_number();
    if (runs_functions_)
      deduce_results();
    TROUPE_TRY(fill_defaults());
    for (const auto& at : op_.outputs)
      TROUPE_TRY(add_output(at));
    return std::move(out_);
  }

private:
  const attr_value* given(std::string_view name) const {
    auto it = out_.attrs.find(name);
    return it == out_.attrs.end() ? nullptr : &it->second;
  }

  bool is_type_list(const port& at) const {
    auto* attr = op_.find_attr(at.type);
    return attr && attr->kind == attr_kind::types;
  }

  status check_given() {
    for (auto& [name, value] : out_.attrs) {
      auto* attr = op_.find_attr(name);
      if (!attr && name == colocation_attr) { // of any op
        TROUPE_TRY(check_colocation(value));
        continue;
      }
      if (!attr && name == transfer_attr) { // the same
        TROUPE_TRY(check_transfer(value));
        continue;
      }
      if (!attr) {
        std::vector<std::string_view> names;
        for (const auto& one : op_.attrs)
          names.push_back(one.name);
        return invalid("there is no attribute '", name, "'", did_you_mean(name, names));
      }
      TROUPE_TRY(coerce(*attr, value));
      if (auto* type = value.get_if<dtype>(); type && !attr->allowed.contains(*type))
        return invalid("attribute ", name, " must be one of {", attr->allowed, "}, got ", *type);
      if (auto* types = value.get_if<std::vector<dtype>>())
        for (auto type : *types)
          if (!attr->allowed.contains(type))
            return invalid("attribute ", name, " must list types of {", attr->allowed, "}, got ",
                           type);
      if (auto* dims = value.get_if<partial_shape>(); dims && dims->has_rank())
        if (auto fine = partial_shape::make(dims->extents()); !fine)
          return fine.status().within(concat("attribute ", name));
      if (auto* number = value.get_if<int64_t>(); number && *number < attr->minimum)
        return invalid("attribute ", name, " must be at least ", attr->minimum, ", got ", *number);
    }
    return {};
  }

  // Whole numbers are welcome where real ones are wanted, and [] is an empty list of any kind.
  static status coerce(const attr_def& attr, attr_value& value) {
    if (value.kind() == attr.kind)
      return {};
    if (auto* whole = value.get_if<int64_t>(); whole && attr.kind == attr_kind::real) {
      value = static_cast<double>(*whole);
      return {};
    }
    if (auto* list = value.get_if<std::vector<int64_t>>()) {
      if (attr.kind == attr_kind::reals) {
        value = std::vector<double>(list->begin(), list->end());
        return {};
      }
      if (attr.kind == attr_kind::shape) {
        TROUPE_ASSIGN(auto dims, partial_shape::make(*list));
        value = dims;
        return {};
      }
      if (list->empty() && attr.kind >= attr_kind::integers && attr.kind != attr_kind::function) {
        value = attr.kind == attr_kind::texts    ? attr_value{std::vector<std::string>{}}
                : attr.kind == attr_kind::types  ? attr_value{std::vector<dtype>{}}
                : attr.kind == attr_kind::shapes ? attr_value{std::vector<partial_shape>{}}
                                                 : attr_value{std::vector<function_value>{}};
        return {};
      }
    }
    auto article = attr.kind == attr_kind::integer ? "an " : "a ";
    return invalid("attribute ", attr.name, " must be ", article, to_string(attr.kind),
                   ", got the ", to_string(value.kind()), ' ', value);
  }

  // The one count (or list of types) that was not given is what is left of the inputs.
  status deduce_counts() {
    size_t taken = 0, sharing = 0;
    std::string_view open;
    bool open_is_list = false;
    for (const auto& at : op_.inputs) {
      if (at.count.empty() && !is_type_list(at)) {
        ++taken;
        continue;
      }
      auto name = at.count.empty() ? at.type : at.count;
      if (auto* value = given(name)) {
        if (auto* number = value->get_if<int64_t>())
          taken += static_cast<size_t>(std::max<int64_t>(*number, 0));
        else if (auto* types = value->get_if<std::vector<dtype>>())
          taken += types->size();
      } else if (open.empty() || open == name) {
        open = name;
        open_is_list = at.count.empty();
        ++sharing;
      } else {
        return invalid("give attribute ", name, ", it cannot be deduced from the inputs");
      }
    }
    if (open.empty())
      return {};
    if (taken > inputs_.size() || (inputs_.size() - taken) % sharing != 0)
      return wrong_number();
    auto each = (inputs_.size() - taken) / sharing;
    if (open_is_list) {
      std::vector<dtype> types;
      for (size_t i = 0, first = position_of(open); i < each && first + i < inputs_.size(); ++i)
        types.push_back(inputs_[first + i] ? inputs_[first + i].type() : dtype::none);
      out_.attrs.emplace(open, std::move(types));
      return {};
    }
    if (auto* attr = op_.find_attr(open); attr && static_cast<int64_t>(each) < attr->minimum)
      return invalid("takes at least ", attr->minimum, " inputs for '", open, "', got ", each);
    out_.attrs.emplace(open, each);
    return {};
  }

  // Where the inputs of a list of types begin; ports before it are single or counted.
  size_t position_of(std::string_view list_attr) const {
    size_t first = 0;
    for (const auto& at : op_.inputs) {
      if (at.type == list_attr)
        return first;
      first += tensors_of(at);
    }
    return first;
  }

  size_t tensors_of(const port& at) const {
    if (!at.count.empty()) {
      auto* value = given(at.count);
      return value ? static_cast<size_t>(std::max<int64_t>(*value->get_if<int64_t>(), 0)) : 0;
    }
    if (!is_type_list(at))
      return 1;
    auto* value = given(at.type);
    return value ? value->get_if<std::vector<dtype>>()->size() : 0;
  }

  status match_input(const port& at, size_t& next) {
    auto count = tensors_of(at);
    for (size_t i = 0; i < count; ++i, ++next) {
      if (next >= inputs_.size())
        return wrong_number();
      const auto& from = inputs_[next];
      if (!from)
        return invalid("input ", at.name, " is an edge to nothing");
      if (at.ref && !from.node->output_is_ref(from.index))
        return invalid("input ", at.name, " must be a ", to_string(at.to), " itself, but '", from,
                       "' carries a value");
      if (const auto* behind = at.ref ? resource_behind(from) : nullptr;
          behind && behind->op().makes != at.to)
        return invalid("input ", at.name, " must be a ", to_string(at.to), ", but '",
                       behind->name(), "' is a ", to_string(behind->op().makes));
      if (at.handle && !at.ref && !is_variable(from))
        return invalid("input ", at.name, " must be a variable itself, but '", from,
                       "' carries a value");
      TROUPE_TRY(match_type(at, i, from));
      auto as_ref = runs_functions_ && is_type_list(at) && takes_ref(op_, out_.attrs, i, from);
      out_.input_ports.push_back(as_ref ? &ref_argument : &at);
    }
    return {};
  }

  // Or what the runtime has read of one, where it has to be read before.
  static bool is_variable(edge from) {
    if (from.node->op().name.starts_with('_'))
      return true;
    const auto* behind = from.node->output_is_ref(from.index) ? resource_behind(from) : nullptr;
    return behind && behind->op().makes == resource::variable;
  }

  status match_type(const port& at, size_t i, edge from) {
    if (at.type.empty())
      return {};
    auto type = from.type();
    if (auto fixed = dtype_from(at.type)) {
      if (type != *fixed)
        return invalid("input ", at.name, " must be ", *fixed, ", got ", type, " from '", from,
                       "'");
      return {};
    }
    auto* attr = op_.find_attr(at.type);
    if (!attr)
      return failure(error_kind::internal, "input ", at.name, " has the unknown type ", at.type);
    auto* value = given(at.type);
    if (attr->kind == attr_kind::types) {
      auto expected = (*value->get_if<std::vector<dtype>>())[i];
      if (!attr->allowed.contains(type))
        return invalid("input ", at.name, '[', i, "] must be one of {", attr->allowed, "}, got ",
                       type, " from '", from, "'");
      return type == expected ? status{}
                              : invalid("input ", at.name, '[', i, "] must be ", expected, ", got ",
                                        type, " from '", from, "'");
    }
    if (!attr->allowed.contains(type))
      return invalid("input ", at.name, " must be one of {", attr->allowed, "}, got ", type,
                     " from '", from, "'");
    if (!value) {
      out_.attrs.emplace(at.type, type);
      first_of_[at.type] = concat("input ", at.name);
    } else if (auto expected = *value->get_if<dtype>(); expected != type) {
      auto like = first_of_.find(at.type);
      return invalid("input ", at.name, " must be ", expected, " like ",
                     like == first_of_.end() ? concat("attribute ", at.type) : like->second,
                     ", got ", type, " from '", from, "'");
    }
    return {};
  }

  // A function knows what it gives.
  void deduce_results() {
    for (const auto& at : op_.outputs)
      for (const auto* each : functions_of(op_, out_.attrs))
        if (is_type_list(at) && !given(at.type) && each->body) {
          std::vector<dtype> types;
          for (size_t i = 0; i < each->body->results(); ++i)
            types.push_back(each->body->result_type(i));
          out_.attrs.emplace(at.type, std::move(types));
        }
  }

  status fill_defaults() {
    for (const auto& attr : op_.attrs) {
      if (given(attr.name))
        continue;
      if (!attr.has_default())
        return invalid("attribute ", attr.name, " (", to_string(attr.kind), ") is missing");
      out_.attrs.emplace(attr.name, default_of(attr));
    }
    return {};
  }

  status add_output(const port& at) {
    auto count = tensors_of(at);
    // Before anything is made for them: the count may come from a peer.
    if (count > UINT16_MAX)
      return invalid("a node has at most ", UINT16_MAX, " outputs, ", at.count, " says ", count);
    for (size_t i = 0; i < count; ++i) {
      auto type = dtype_from(at.type);
      if (!type) {
        auto* value = given(at.type);
        if (!value)
          return failure(error_kind::internal, "output ", at.name, " has the unknown type ",
                         at.type);
        if (auto* list = value->get_if<std::vector<dtype>>())
          type = (*list)[i];
        else if (auto* one = value->get_if<dtype>())
          type = *one;
      }
      if (!type)
        return failure(error_kind::internal, "output ", at.name, " has no type");
      out_.output_types.push_back(*type);
      auto as_ref = runs_functions_ && gives_ref(op_, out_.attrs, i);
      out_.output_ports.push_back(as_ref ? &ref_argument : &at);
    }
    return {};
  }

  status wrong_number() const {
    std::ostringstream wanted;
    const char* between = "";
    for (const auto& at : op_.inputs) {
      wanted << between << at.name;
      if (!at.count.empty() || is_type_list(at))
        wanted << "...";
      between = ", ";
    }
    return invalid("takes the inputs (", std::move(wanted).str(), "), got ", inputs_.size());
  }

  const op_def& op_;
  const std::vector<edge>& inputs_;
  const bool runs_functions_;
  matched_signature out_;
  std::map<std::string_view, std::string> first_of_; // which input fixed a type attribute
};

} // namespace

result<matched_signature> match_signature(const op_def& op, const std::vector<edge>& inputs,
                                          attr_map attrs) {
  return matcher{op, inputs, std::move(attrs)}.run();
}

} // namespace troupe
