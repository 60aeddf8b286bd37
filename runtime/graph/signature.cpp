#include "troupe/runtime/graph/signature.hpp"

#include "troupe/runtime/graph/colocation.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/graph/transfer_attr.hpp"

#include <sstream>

namespace troupe {
namespace {

// Matches inputs with ports from left to right and collects the deductions.
class matcher {
public:
  matcher(const op_def& op, const std::vector<edge>& inputs, attr_map attrs)
      : op_(op), inputs_(inputs), runs_functions_(runs_functions(op)) {
    matched_.attrs = std::move(attrs);
  }

  result<matched_signature> match() {
    TROUPE_TRY(check_given());
    TROUPE_TRY(deduce_counts());
    size_t next = 0;
    for (const auto& declared : op_.inputs)
      TROUPE_TRY(match_input(declared, next));
    if (next != inputs_.size())
      return wrong_input_count();
    if (runs_functions_)
      deduce_results();
    TROUPE_TRY(fill_defaults());
    for (const auto& declared : op_.outputs)
      TROUPE_TRY(add_output(declared));
    return std::move(matched_);
  }

private:
  const attr_value* find_value(std::string_view name) const {
    auto found_attr = matched_.attrs.find(name);
    return found_attr == matched_.attrs.end() ? nullptr : &found_attr->second;
  }

  bool is_type_list(const port& declared) const {
    auto* attr = op_.find_attr(declared.type);
    return attr && attr->kind == attr_kind::types;
  }

  status check_given() {
    for (auto& [name, value] : matched_.attrs) {
      auto* attr = op_.find_attr(name);
      if (!attr && name == colocation_attr) { // any op may have it
        TROUPE_TRY(check_colocation(value));
        continue;
      }
      if (!attr && name == transfer_attr) { // any op may have it
        TROUPE_TRY(check_transfer(value));
        continue;
      }
      if (!attr) {
        std::vector<std::string_view> names;
        for (const auto& attr_of_op : op_.attrs)
          names.push_back(attr_of_op.name);
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
        if (auto checked = partial_shape::make(dims->extents()); !checked)
          return checked.status().with_context(concat("attribute ", name));
      if (auto* number = value.get_if<int64_t>(); number && *number < attr->minimum)
        return invalid("attribute ", name, " must be at least ", attr->minimum, ", got ", *number);
    }
    return {};
  }

  // Converts an integer to a real number, and [] to an empty list of any kind.
  static status coerce(const attr_def& attr, attr_value& value) {
    if (value.kind() == attr.kind)
      return {};
    if (auto* integer = value.get_if<int64_t>(); integer && attr.kind == attr_kind::real) {
      value = static_cast<double>(*integer);
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

  // Deduces the one count (or list of types) that is not given from the remaining inputs.
  status deduce_counts() {
    size_t matched_count = 0, undecided_ports = 0;
    std::string_view undecided_name;
    bool undecided_is_list = false;
    for (const auto& declared : op_.inputs) {
      if (declared.count.empty() && !is_type_list(declared)) {
        ++matched_count;
        continue;
      }
      auto name = declared.count.empty() ? declared.type : declared.count;
      if (auto* value = find_value(name)) {
        if (auto* number = value->get_if<int64_t>())
          matched_count += static_cast<size_t>(std::max<int64_t>(*number, 0));
        else if (auto* types = value->get_if<std::vector<dtype>>())
          matched_count += types->size();
      } else if (undecided_name.empty() || undecided_name == name) {
        undecided_name = name;
        undecided_is_list = declared.count.empty();
        ++undecided_ports;
      } else {
        return invalid("give attribute ", name, ", it cannot be deduced from the inputs");
      }
    }
    if (undecided_name.empty())
      return {};
    if (matched_count > inputs_.size() || (inputs_.size() - matched_count) % undecided_ports != 0)
      return wrong_input_count();
    auto count_per_port = (inputs_.size() - matched_count) / undecided_ports;
    if (undecided_is_list) {
      std::vector<dtype> types;
      for (size_t i = 0, first = position_of(undecided_name);
           i < count_per_port && first + i < inputs_.size(); ++i)
        types.push_back(inputs_[first + i] ? inputs_[first + i].type() : dtype::none);
      matched_.attrs.emplace(undecided_name, std::move(types));
      return {};
    }
    if (auto* attr = op_.find_attr(undecided_name);
        attr && static_cast<int64_t>(count_per_port) < attr->minimum)
      return invalid("takes at least ", attr->minimum, " inputs for '", undecided_name, "', got ",
                     count_per_port);
    matched_.attrs.emplace(undecided_name, count_per_port);
    return {};
  }

  // Returns the first input of a list of types. The ports before it are single or counted.
  size_t position_of(std::string_view list_attr) const {
    size_t first = 0;
    for (const auto& declared : op_.inputs) {
      if (declared.type == list_attr)
        return first;
      first += tensors_of(declared);
    }
    return first;
  }

  size_t tensors_of(const port& declared) const {
    if (!declared.count.empty()) {
      auto* value = find_value(declared.count);
      return value ? static_cast<size_t>(std::max<int64_t>(*value->get_if<int64_t>(), 0)) : 0;
    }
    if (!is_type_list(declared))
      return 1;
    auto* value = find_value(declared.type);
    return value ? value->get_if<std::vector<dtype>>()->size() : 0;
  }

  status match_input(const port& declared, size_t& next) {
    auto count = tensors_of(declared);
    for (size_t i = 0; i < count; ++i, ++next) {
      if (next >= inputs_.size())
        return wrong_input_count();
      const auto& source = inputs_[next];
      if (!source)
        return invalid("input ", declared.name, " is an empty edge");
      if (declared.ref && !source.node->output_is_ref(source.index))
        return invalid("input ", declared.name, " must be a ", to_string(declared.state_kind),
                       " itself, but '", source, "' carries a value");
      if (const auto* state = declared.ref ? resource_behind(source) : nullptr;
          state && state->op().state_kind != declared.state_kind)
        return invalid("input ", declared.name, " must be a ", to_string(declared.state_kind),
                       ", but '", state->name(), "' is a ", to_string(state->op().state_kind));
      if (declared.handle && !declared.ref && !is_variable(source))
        return invalid("input ", declared.name, " must be a variable itself, but '", source,
                       "' carries a value");
      TROUPE_TRY(match_type(declared, i, source));
      auto as_ref = runs_functions_ && is_type_list(declared) &&
                    call_input_is_ref(op_, matched_.attrs, i, source);
      matched_.input_ports.push_back(as_ref ? &ref_argument : &declared);
    }
    return {};
  }

  // Returns whether the edge is a variable, or a value that the runtime read from a variable.
  static bool is_variable(edge source) {
    if (source.node->op().name.starts_with('_'))
      return true;
    const auto* state =
        source.node->output_is_ref(source.index) ? resource_behind(source) : nullptr;
    return state && state->op().state_kind == resource::variable;
  }

  status match_type(const port& declared, size_t i, edge source) {
    if (declared.type.empty())
      return {};
    auto type = source.type();
    if (auto fixed = dtype_from(declared.type)) {
      if (type != *fixed)
        return invalid("input ", declared.name, " must be ", *fixed, ", got ", type, " from '",
                       source, "'");
      return {};
    }
    auto* attr = op_.find_attr(declared.type);
    if (!attr)
      return failure(error_kind::internal, "input ", declared.name, " has the unknown type ",
                     declared.type);
    auto* value = find_value(declared.type);
    if (attr->kind == attr_kind::types) {
      auto expected = (*value->get_if<std::vector<dtype>>())[i];
      if (!attr->allowed.contains(type))
        return invalid("input ", declared.name, '[', i, "] must be one of {", attr->allowed,
                       "}, got ", type, " from '", source, "'");
      return type == expected ? status{}
                              : invalid("input ", declared.name, '[', i, "] must be ", expected,
                                        ", got ", type, " from '", source, "'");
    }
    if (!attr->allowed.contains(type))
      return invalid("input ", declared.name, " must be one of {", attr->allowed, "}, got ", type,
                     " from '", source, "'");
    if (!value) {
      matched_.attrs.emplace(declared.type, type);
      attr_sources_[declared.type] = concat("input ", declared.name);
    } else if (auto expected = *value->get_if<dtype>(); expected != type) {
      auto first = attr_sources_.find(declared.type);
      return invalid("input ", declared.name, " must be ", expected, " like ",
                     first == attr_sources_.end() ? concat("attribute ", declared.type)
                                                  : first->second,
                     ", got ", type, " from '", source, "'");
    }
    return {};
  }

  // The functions determine the types of the results.
  void deduce_results() {
    for (const auto& declared : op_.outputs)
      for (const auto* callee : functions_of(op_, matched_.attrs))
        if (is_type_list(declared) && !find_value(declared.type) && callee->body) {
          std::vector<dtype> types;
          for (size_t i = 0; i < callee->body->results(); ++i)
            types.push_back(callee->body->result_type(i));
          matched_.attrs.emplace(declared.type, std::move(types));
        }
  }

  status fill_defaults() {
    for (const auto& attr : op_.attrs) {
      if (find_value(attr.name))
        continue;
      if (!attr.has_default())
        return invalid("attribute ", attr.name, " (", to_string(attr.kind), ") is missing");
      matched_.attrs.emplace(attr.name, default_of(attr));
    }
    return {};
  }

  status add_output(const port& declared) {
    auto count = tensors_of(declared);
    // Checked before the outputs are allocated, because a peer may have sent the count.
    if (count > UINT16_MAX)
      return invalid("a node has at most ", UINT16_MAX, " outputs, but ", declared.count, " is ",
                     count);
    for (size_t i = 0; i < count; ++i) {
      auto type = dtype_from(declared.type);
      if (!type) {
        auto* value = find_value(declared.type);
        if (!value)
          return failure(error_kind::internal, "output ", declared.name, " has the unknown type ",
                         declared.type);
        if (auto* list = value->get_if<std::vector<dtype>>())
          type = (*list)[i];
        else if (auto* single_type = value->get_if<dtype>())
          type = *single_type;
      }
      if (!type)
        return failure(error_kind::internal, "output ", declared.name, " has no type");
      matched_.output_types.push_back(*type);
      auto as_ref = runs_functions_ && call_output_is_ref(op_, matched_.attrs, i);
      matched_.output_ports.push_back(as_ref ? &ref_argument : &declared);
    }
    return {};
  }

  status wrong_input_count() const {
    std::ostringstream expected;
    const char* separator = "";
    for (const auto& declared : op_.inputs) {
      expected << separator << declared.name;
      if (!declared.count.empty() || is_type_list(declared))
        expected << "...";
      separator = ", ";
    }
    return invalid("takes the inputs (", std::move(expected).str(), "), got ", inputs_.size());
  }

  const op_def& op_;
  const std::vector<edge>& inputs_;
  const bool runs_functions_;
  matched_signature matched_;
  std::map<std::string_view, std::string> attr_sources_; // the input that fixed a type attribute
};

} // namespace

result<matched_signature> match_signature(const op_def& op, const std::vector<edge>& inputs,
                                          attr_map attrs) {
  return matcher{op, inputs, std::move(attrs)}.match();
}

} // namespace troupe
