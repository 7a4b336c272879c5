! SPDX-License-Identifier: BSD-2-Clause
! Made by src/fortran/generate.py from the public headers. Do not edit.
module tenon_calls
  use iso_c_binding
  use mpi_f08, only: MPI_Comm
  use tenon_types
  use tenon_c
  use tenon_convert
  implicit none
  private
  public :: tenon_checkpoint_create
  public :: tenon_checkpoint_add_layer
  public :: tenon_checkpoint_add_optimizer
  public :: tenon_checkpoint_add_tensor
  public :: tenon_checkpoint_set_int
  public :: tenon_checkpoint_set_real
  public :: tenon_checkpoint_set_string
  public :: tenon_checkpoint_get_int
  public :: tenon_checkpoint_get_real
  public :: tenon_checkpoint_get_string
  public :: tenon_checkpoint_write
  public :: tenon_checkpoint_write_step
  public :: tenon_checkpoint_read
  public :: tenon_checkpoint_read_latest
  public :: tenon_checkpoint_on_signal
  public :: tenon_checkpoint_get_signal
  public :: tenon_checkpoint_view_file
  public :: tenon_checkpoint_get_contents
  public :: tenon_dtensor_load
  public :: tenon_checkpoint_destroy
  public :: tenon_destroy
  public :: tenon_dataset_create_idx
  public :: tenon_dataset_create_hdf_5
  public :: tenon_dataset_get_shape
  public :: tenon_dataset_set_up
  public :: tenon_dataset_get_batch_count
  public :: tenon_dataset_get_batch
  public :: tenon_dataset_destroy
  public :: tenon_dtensor_create
  public :: tenon_dtensor_set_space
  public :: tenon_dtensor_get_space
  public :: tenon_dtensor_place_array
  public :: tenon_dtensor_place_array_read
  public :: tenon_dtensor_place_arrays
  public :: tenon_dtensor_place_arrays_read
  public :: tenon_dtensor_gather_arrays
  public :: tenon_dtensor_scatter_arrays
  public :: tenon_dtensor_reset_array
  public :: tenon_dtensor_set_private
  public :: tenon_dtensor_get_array
  public :: tenon_dtensor_restore_array
  public :: tenon_dtensor_get_array_read
  public :: tenon_dtensor_restore_array_read
  public :: tenon_dtensor_get_device_array
  public :: tenon_dtensor_get_device_array_read
  public :: tenon_dtensor_get_strides
  public :: tenon_dtensor_get_layout
  public :: tenon_dtensor_get_data_type
  public :: tenon_dtensor_get_box
  public :: tenon_dtensor_get_local_size
  public :: tenon_dtensor_copy
  public :: tenon_dtensor_axpby
  public :: tenon_dtensor_scale
  public :: tenon_dtensor_fill_constant
  public :: tenon_dtensor_fill_uniform
  public :: tenon_dtensor_fill_normal
  public :: tenon_dtensor_norm
  public :: tenon_dtensor_pairing
  public :: tenon_dtensor_max_abs
  public :: tenon_dtensor_destroy
  public :: tenon_edges_create
  public :: tenon_edges_create_shared
  public :: tenon_edges_get_layout
  public :: tenon_layer_set_edges
  public :: tenon_layer_set_index_map
  public :: tenon_layer_create_message_passing
  public :: tenon_edges_destroy
  public :: tenon_error_string
  public :: tenon_error_name
  public :: tenon_get_last_error
  public :: tenon_get_last_error_report
  public :: tenon_add_frame
  public :: tenon_abort
  public :: tenon_raise_error
  public :: tenon_set_dimension_note
  public :: tenon_layer_shell_set_labels
  public :: tenon_layer_shell_set_saved
  public :: tenon_layer_shell_add_parameter
  public :: tenon_layer_shell_add_state
  public :: tenon_layer_shell_set_workspace
  public :: tenon_layer_shell_get_value
  public :: tenon_layer_shell_get_tangent
  public :: tenon_layer_shell_get_gradient
  public :: tenon_layer_shell_get_state
  public :: tenon_layer_shell_get_workspace
  public :: tenon_layer_register
  public :: tenon_layer_set_example
  public :: tenon_layer_get_example_range
  public :: tenon_layer_get_example_shape
  public :: tenon_linearop_create_allocate
  public :: tenon_linearop_create_memory
  public :: tenon_linearop_register
  public :: tenon_placement_list_create
  public :: tenon_placement_list_get_count
  public :: tenon_placement_list_get_matrix
  public :: tenon_placement_list_get_hierarchy
  public :: tenon_placement_list_add_reduction
  public :: tenon_placement_list_predict
  public :: tenon_placement_list_destroy
  public :: tenon_reduction_programs_create
  public :: tenon_reduction_programs_get_count
  public :: tenon_reduction_programs_get_size
  public :: tenon_reduction_programs_get_text
  public :: tenon_reduction_programs_get_step
  public :: tenon_reduction_programs_get_groups
  public :: tenon_reduction_programs_predict
  public :: tenon_reduction_programs_destroy
  public :: tenon_field_series_create
  public :: tenon_field_series_set_grid
  public :: tenon_field_series_set_mesh
  public :: tenon_field_series_add_tensor
  public :: tenon_field_series_write
  public :: tenon_field_series_destroy
  public :: tenon_index_map_create_from_ids
  public :: tenon_index_map_create_sorted
  public :: tenon_index_map_create_cells
  public :: tenon_index_map_get_layouts
  public :: tenon_linearop_create_index_map
  public :: tenon_index_map_destroy
  public :: tenon_finalize
  public :: tenon_initialized
  public :: tenon_get_version
  public :: tenon_get_info
  public :: tenon_layer_set_data_type
  public :: tenon_layer_set_space
  public :: tenon_layer_set_stack_depth
  public :: tenon_layer_set_signature
  public :: tenon_layer_set_storage
  public :: tenon_layer_set_up
  public :: tenon_layer_get_output_layout
  public :: tenon_layer_create_output
  public :: tenon_layer_create_output_cotangent
  public :: tenon_layer_create_input_cotangent
  public :: tenon_layer_initialize
  public :: tenon_layer_get_parameter_count
  public :: tenon_layer_get_parameter
  public :: tenon_layer_get_parameter_gradient
  public :: tenon_layer_get_reduced_gradient
  public :: tenon_layer_get_parameter_tangent
  public :: tenon_layer_get_state_count
  public :: tenon_layer_get_state
  public :: tenon_layer_set_training
  public :: tenon_layer_set_recording
  public :: tenon_layer_set_frozen
  public :: tenon_layer_set_target
  public :: tenon_layer_set_target_weights
  public :: tenon_layer_apply
  public :: tenon_layer_apply_tangent
  public :: tenon_layer_apply_adjoint
  public :: tenon_layer_clear_stack
  public :: tenon_layer_zero_gradients
  public :: tenon_layer_test_adjoint
  public :: tenon_layer_test_taylor
  public :: tenon_layer_destroy
  public :: tenon_layer_create_sequential
  public :: tenon_layer_sequential_add
  public :: tenon_layer_create_graph
  public :: tenon_layer_graph_add_node
  public :: tenon_layer_get_boundary_layout
  public :: tenon_layer_set_up_many
  public :: tenon_layer_create_input_cotangent_at
  public :: tenon_layer_apply_many
  public :: tenon_layer_apply_tangent_many
  public :: tenon_layer_apply_adjoint_many
  public :: tenon_layer_get_input_count
  public :: tenon_layer_get_input_name
  public :: tenon_layer_get_output_count
  public :: tenon_layer_get_output_name
  public :: tenon_layer_get_output_layout_at
  public :: tenon_layer_create_output_at
  public :: tenon_layer_create_output_cotangent_at
  public :: tenon_layer_apply_all
  public :: tenon_layer_apply_tangent_all
  public :: tenon_layer_apply_adjoint_all
  public :: tenon_layer_create_from_file
  public :: tenon_layer_create_from_model
  public :: tenon_layer_test_model
  public :: tenon_layer_save_network
  public :: tenon_layer_load_weights
  public :: tenon_layer_save_weights
  public :: tenon_layer_get_child
  public :: tenon_layer_get_child_count
  public :: tenon_layer_get_child_at
  public :: tenon_layer_get_parameter_at
  public :: tenon_layer_create_type
  public :: tenon_layer_create_conv
  public :: tenon_layer_create_affine
  public :: tenon_layer_create_column_mlp
  public :: tenon_layer_create_collocate
  public :: tenon_layer_create_stagger
  public :: tenon_layer_get_spatial_dimensions
  public :: tenon_layer_set_stride
  public :: tenon_layer_set_padding
  public :: tenon_layer_set_boundary
  public :: tenon_layer_set_channel_boundary
  public :: tenon_layer_set_output_layout
  public :: tenon_layer_get_types
  public :: tenon_layer_get_labels
  public :: tenon_layer_get_type_signatures
  public :: tenon_layout_create_sharded
  public :: tenon_layout_create_from_boxes
  public :: tenon_layout_create_staggered
  public :: tenon_layout_create
  public :: tenon_layout_create_like
  public :: tenon_layout_set_shape
  public :: tenon_layout_set_properties
  public :: tenon_layout_set_split_order
  public :: tenon_layout_set_cuts
  public :: tenon_layout_set_halo
  public :: tenon_layout_set_halo_boxes
  public :: tenon_layout_set_halo_partial
  public :: tenon_layout_set_up
  public :: tenon_layout_get_dual
  public :: tenon_layout_get_partition
  public :: tenon_layout_get_dim
  public :: tenon_layout_get_shape
  public :: tenon_layout_get_properties
  public :: tenon_layout_get_box
  public :: tenon_layout_get_owned_box
  public :: tenon_layout_is_active
  public :: tenon_layout_is_equal
  public :: tenon_layout_destroy
  public :: tenon_linearop_apply
  public :: tenon_linearop_apply_adjoint
  public :: tenon_linearop_apply_add
  public :: tenon_linearop_apply_begin
  public :: tenon_linearop_apply_end
  public :: tenon_linearop_bind
  public :: tenon_linearop_unbind
  public :: tenon_linearop_get_domain
  public :: tenon_linearop_get_range
  public :: tenon_linearop_get_data_types
  public :: tenon_linearop_get_traffic
  public :: tenon_linearop_test_adjoint
  public :: tenon_linearop_destroy
  public :: tenon_linearop_create_conversion
  public :: tenon_linearop_create_halo
  public :: tenon_linearop_create_boundary_values
  public :: tenon_linearop_create_boundary_constant
  public :: tenon_linearop_create_primitive
  public :: tenon_linearop_create_send_receive
  public :: tenon_linearop_create_cast
  public :: tenon_linearop_create_composition
  public :: tenon_linearop_create_adjoint
  public :: tenon_linearop_create_sum
  public :: tenon_linearop_create_scale
  public :: tenon_linearop_create_type
  public :: tenon_linearop_create_jacobian
  public :: tenon_linearop_jacobian_set_point
  public :: tenon_links_create_from_tiles
  public :: tenon_links_create_from_sides
  public :: tenon_links_get_layout
  public :: tenon_layer_set_links
  public :: tenon_links_destroy
  public :: tenon_log_enable
  public :: tenon_log_event_register
  public :: tenon_log_event_begin
  public :: tenon_log_event_end
  public :: tenon_log_flops
  public :: tenon_log_get_work
  public :: tenon_log_get_records
  public :: tenon_log_stage_push
  public :: tenon_log_stage_pop
  public :: tenon_progress_show
  public :: tenon_machine_create
  public :: tenon_machine_create_from_file
  public :: tenon_machine_create_local
  public :: tenon_machine_create_from_comm
  public :: tenon_machine_measure
  public :: tenon_machine_save
  public :: tenon_machine_add_link
  public :: tenon_machine_get_counts
  public :: tenon_machine_get_level
  public :: tenon_machine_get_link
  public :: tenon_machine_get_ranks
  public :: tenon_machine_destroy
  public :: tenon_set_name
  public :: tenon_get_name
  public :: tenon_set_options_prefix
  public :: tenon_get_options_prefix
  public :: tenon_get_class
  public :: tenon_get_type
  public :: tenon_get_comm
  public :: tenon_retain
  public :: tenon_get_references
  public :: tenon_view
  public :: tenon_set_integers
  public :: tenon_set_real
  public :: tenon_set_text
  public :: tenon_set_bool
  public :: tenon_set_from_options
  public :: tenon_get_integers
  public :: tenon_get_real
  public :: tenon_get_text
  public :: tenon_get_bool
  public :: tenon_is_set
  public :: tenon_optimizer_create
  public :: tenon_optimizer_set_learning_rate
  public :: tenon_optimizer_report
  public :: tenon_optimizer_get_learning_rate
  public :: tenon_optimizer_clip_gradient_norm
  public :: tenon_optimizer_step
  public :: tenon_optimizer_get_steps
  public :: tenon_optimizer_destroy
  public :: tenon_options_declare
  public :: tenon_options_own_command_line
  public :: tenon_options_set
  public :: tenon_options_insert_file
  public :: tenon_options_get_flag
  public :: tenon_options_get_int
  public :: tenon_options_get_integers
  public :: tenon_options_get_real
  public :: tenon_options_get_string
  public :: tenon_options_has
  public :: tenon_options_get_declared_count
  public :: tenon_options_get_declared_text
  public :: tenon_options_help
  public :: tenon_write_file
  public :: tenon_partition_create
  public :: tenon_partition_create_from_ranks
  public :: tenon_partition_create_placed
  public :: tenon_partition_get_axes
  public :: tenon_partition_get_extents
  public :: tenon_partition_get_coordinates
  public :: tenon_partition_get_axis_comm
  public :: tenon_partition_set_stream
  public :: tenon_partition_reset_stream
  public :: tenon_partition_destroy
  public :: tenon_plan_create
  public :: tenon_plan_set_input
  public :: tenon_plan_set_input_at
  public :: tenon_plan_set_output
  public :: tenon_plan_set_machine
  public :: tenon_plan_fix
  public :: tenon_plan_search
  public :: tenon_plan_set_up
  public :: tenon_plan_save
  public :: tenon_plan_load
  public :: tenon_plan_get_number
  public :: tenon_plan_get_layer_name
  public :: tenon_plan_get_text
  public :: tenon_plan_report
  public :: tenon_plan_calibrate
  public :: tenon_plan_set_rates_from
  public :: tenon_plan_get_layer
  public :: tenon_plan_get_input_layout
  public :: tenon_plan_get_input_layout_at
  public :: tenon_plan_apply
  public :: tenon_plan_apply_tangent
  public :: tenon_plan_apply_adjoint
  public :: tenon_plan_destroy
  public :: tenon_trainer_create
  public :: tenon_trainer_set_dataset
  public :: tenon_trainer_set_validation
  public :: tenon_trainer_set_checkpoint
  public :: tenon_trainer_run
  public :: tenon_trainer_stop
  public :: tenon_trainer_get_progress
  public :: tenon_trainer_get_losses
  public :: tenon_trainer_destroy
  interface tenon_checkpoint_create
    procedure tenon_checkpoint_create_f08, tenon_checkpoint_create_mpi
  end interface
  interface tenon_checkpoint_set_int
    procedure tenon_checkpoint_set_int_int64, tenon_checkpoint_set_int_int32
  end interface
  interface tenon_checkpoint_get_int
    procedure tenon_checkpoint_get_int_int64, tenon_checkpoint_get_int_int32
  end interface
  interface tenon_checkpoint_write_step
    procedure tenon_checkpoint_write_step_int64, tenon_checkpoint_write_step_int32
  end interface
  interface tenon_checkpoint_read_latest
    procedure tenon_checkpoint_read_latest_int64, tenon_checkpoint_read_latest_int32
  end interface
  interface tenon_destroy
    procedure tenon_checkpoint_destroy, tenon_dataset_destroy, tenon_dtensor_destroy, tenon_edges_destroy, &
      tenon_placement_list_destroy, tenon_reduction_programs_destroy, tenon_field_series_destroy, &
      tenon_index_map_destroy, tenon_layer_destroy, tenon_layout_destroy, tenon_linearop_destroy, &
      tenon_links_destroy, tenon_machine_destroy, tenon_optimizer_destroy, tenon_partition_destroy, &
      tenon_plan_destroy, tenon_trainer_destroy
  end interface
  interface tenon_dataset_create_idx
    procedure tenon_dataset_create_idx_f08, tenon_dataset_create_idx_mpi
  end interface
  interface tenon_dataset_create_hdf_5
    procedure tenon_dataset_create_hdf_5_f08, tenon_dataset_create_hdf_5_mpi
  end interface
  interface tenon_dataset_get_shape
    procedure tenon_dataset_get_shape_int64, tenon_dataset_get_shape_int32
  end interface
  interface tenon_dataset_get_batch_count
    procedure tenon_dataset_get_batch_count_int64, tenon_dataset_get_batch_count_int32
  end interface
  interface tenon_dataset_get_batch
    procedure tenon_dataset_get_batch_int64, tenon_dataset_get_batch_int32
  end interface
  interface tenon_dtensor_place_array
    procedure tenon_dtensor_place_array_int64, tenon_dtensor_place_array_int32
  end interface
  interface tenon_dtensor_place_array_read
    procedure tenon_dtensor_place_array_read_int64, tenon_dtensor_place_array_read_int32
  end interface
  interface tenon_dtensor_place_arrays
    procedure tenon_dtensor_place_arrays_int64, tenon_dtensor_place_arrays_int32
  end interface
  interface tenon_dtensor_place_arrays_read
    procedure tenon_dtensor_place_arrays_read_int64, tenon_dtensor_place_arrays_read_int32
  end interface
  interface tenon_dtensor_get_strides
    procedure tenon_dtensor_get_strides_int64, tenon_dtensor_get_strides_int32
  end interface
  interface tenon_dtensor_get_box
    procedure tenon_dtensor_get_box_int64, tenon_dtensor_get_box_int32
  end interface
  interface tenon_dtensor_get_local_size
    procedure tenon_dtensor_get_local_size_int64, tenon_dtensor_get_local_size_int32
  end interface
  interface tenon_dtensor_fill_uniform
    procedure tenon_dtensor_fill_uniform_int64, tenon_dtensor_fill_uniform_int32
  end interface
  interface tenon_dtensor_fill_normal
    procedure tenon_dtensor_fill_normal_int64, tenon_dtensor_fill_normal_int32
  end interface
  interface tenon_edges_create
    procedure tenon_edges_create_int64, tenon_edges_create_int32
  end interface
  interface tenon_edges_create_shared
    procedure tenon_edges_create_shared_int64, tenon_edges_create_shared_int32
  end interface
  interface tenon_edges_get_layout
    procedure tenon_edges_get_layout_int64, tenon_edges_get_layout_int32
  end interface
  interface tenon_layer_shell_add_parameter
    procedure tenon_layer_shell_add_parameter_int64, tenon_layer_shell_add_parameter_int32
  end interface
  interface tenon_layer_shell_add_state
    procedure tenon_layer_shell_add_state_int64, tenon_layer_shell_add_state_int32
  end interface
  interface tenon_layer_shell_set_workspace
    procedure tenon_layer_shell_set_workspace_int64, tenon_layer_shell_set_workspace_int32
  end interface
  interface tenon_layer_set_example
    procedure tenon_layer_set_example_int64, tenon_layer_set_example_int32
  end interface
  interface tenon_layer_get_example_range
    procedure tenon_layer_get_example_range_int64, tenon_layer_get_example_range_int32
  end interface
  interface tenon_layer_get_example_shape
    procedure tenon_layer_get_example_shape_int64, tenon_layer_get_example_shape_int32
  end interface
  interface tenon_linearop_create_allocate
    procedure tenon_linearop_create_allocate_int64, tenon_linearop_create_allocate_int32
  end interface
  interface tenon_linearop_create_memory
    procedure tenon_linearop_create_memory_int64, tenon_linearop_create_memory_int32
  end interface
  interface tenon_placement_list_create
    procedure tenon_placement_list_create_int64, tenon_placement_list_create_int32
  end interface
  interface tenon_placement_list_get_count
    procedure tenon_placement_list_get_count_int64, tenon_placement_list_get_count_int32
  end interface
  interface tenon_placement_list_get_matrix
    procedure tenon_placement_list_get_matrix_int64, tenon_placement_list_get_matrix_int32
  end interface
  interface tenon_placement_list_get_hierarchy
    procedure tenon_placement_list_get_hierarchy_int64, tenon_placement_list_get_hierarchy_int32
  end interface
  interface tenon_placement_list_predict
    procedure tenon_placement_list_predict_int64, tenon_placement_list_predict_int32
  end interface
  interface tenon_reduction_programs_create
    procedure tenon_reduction_programs_create_int64, tenon_reduction_programs_create_int32
  end interface
  interface tenon_reduction_programs_get_count
    procedure tenon_reduction_programs_get_count_int64, tenon_reduction_programs_get_count_int32
  end interface
  interface tenon_reduction_programs_get_size
    procedure tenon_reduction_programs_get_size_int64, tenon_reduction_programs_get_size_int32
  end interface
  interface tenon_reduction_programs_get_text
    procedure tenon_reduction_programs_get_text_int64, tenon_reduction_programs_get_text_int32
  end interface
  interface tenon_reduction_programs_get_step
    procedure tenon_reduction_programs_get_step_int64, tenon_reduction_programs_get_step_int32
  end interface
  interface tenon_reduction_programs_get_groups
    procedure tenon_reduction_programs_get_groups_int64, tenon_reduction_programs_get_groups_int32
  end interface
  interface tenon_field_series_create
    procedure tenon_field_series_create_f08, tenon_field_series_create_mpi
  end interface
  interface tenon_field_series_set_mesh
    procedure tenon_field_series_set_mesh_int64, tenon_field_series_set_mesh_int32
  end interface
  interface tenon_field_series_write
    procedure tenon_field_series_write_int64, tenon_field_series_write_int32
  end interface
  interface tenon_index_map_create_from_ids
    procedure tenon_index_map_create_from_ids_int64_f08, tenon_index_map_create_from_ids_int64_mpi, &
      tenon_index_map_create_from_ids_int32_f08, tenon_index_map_create_from_ids_int32_mpi
  end interface
  interface tenon_index_map_create_cells
    procedure tenon_index_map_create_cells_int64, tenon_index_map_create_cells_int32
  end interface
  interface tenon_index_map_get_layouts
    procedure tenon_index_map_get_layouts_int64, tenon_index_map_get_layouts_int32
  end interface
  interface tenon_layer_initialize
    procedure tenon_layer_initialize_int64, tenon_layer_initialize_int32
  end interface
  interface tenon_layer_test_adjoint
    procedure tenon_layer_test_adjoint_int64, tenon_layer_test_adjoint_int32
  end interface
  interface tenon_layer_test_taylor
    procedure tenon_layer_test_taylor_int64, tenon_layer_test_taylor_int32
  end interface
  interface tenon_layer_create_sequential
    procedure tenon_layer_create_sequential_f08, tenon_layer_create_sequential_mpi
  end interface
  interface tenon_layer_create_graph
    procedure tenon_layer_create_graph_f08, tenon_layer_create_graph_mpi
  end interface
  interface tenon_layer_create_from_file
    procedure tenon_layer_create_from_file_f08, tenon_layer_create_from_file_mpi
  end interface
  interface tenon_layer_create_from_model
    procedure tenon_layer_create_from_model_f08, tenon_layer_create_from_model_mpi
  end interface
  interface tenon_layer_create_type
    procedure tenon_layer_create_type_f08, tenon_layer_create_type_mpi
  end interface
  interface tenon_layer_create_conv
    procedure tenon_layer_create_conv_int64_f08, tenon_layer_create_conv_int64_mpi, &
      tenon_layer_create_conv_int32_f08, tenon_layer_create_conv_int32_mpi
  end interface
  interface tenon_layer_create_affine
    procedure tenon_layer_create_affine_int64_f08, tenon_layer_create_affine_int64_mpi, &
      tenon_layer_create_affine_int32_f08, tenon_layer_create_affine_int32_mpi
  end interface
  interface tenon_layer_create_column_mlp
    procedure tenon_layer_create_column_mlp_int64_f08, tenon_layer_create_column_mlp_int64_mpi, &
      tenon_layer_create_column_mlp_int32_f08, tenon_layer_create_column_mlp_int32_mpi
  end interface
  interface tenon_layer_create_collocate
    procedure tenon_layer_create_collocate_f08, tenon_layer_create_collocate_mpi
  end interface
  interface tenon_layer_create_stagger
    procedure tenon_layer_create_stagger_f08, tenon_layer_create_stagger_mpi
  end interface
  interface tenon_layer_set_stride
    procedure tenon_layer_set_stride_int64, tenon_layer_set_stride_int32
  end interface
  interface tenon_layer_set_padding
    procedure tenon_layer_set_padding_int64, tenon_layer_set_padding_int32
  end interface
  interface tenon_layer_set_channel_boundary
    procedure tenon_layer_set_channel_boundary_int64, tenon_layer_set_channel_boundary_int32
  end interface
  interface tenon_layer_get_labels
    procedure tenon_layer_get_labels_int64, tenon_layer_get_labels_int32
  end interface
  interface tenon_layout_create_sharded
    procedure tenon_layout_create_sharded_int64, tenon_layout_create_sharded_int32
  end interface
  interface tenon_layout_create_from_boxes
    procedure tenon_layout_create_from_boxes_int64_f08, tenon_layout_create_from_boxes_int64_mpi, &
      tenon_layout_create_from_boxes_int32_f08, tenon_layout_create_from_boxes_int32_mpi
  end interface
  interface tenon_layout_create_staggered
    procedure tenon_layout_create_staggered_int64, tenon_layout_create_staggered_int32
  end interface
  interface tenon_layout_set_shape
    procedure tenon_layout_set_shape_int64, tenon_layout_set_shape_int32
  end interface
  interface tenon_layout_set_cuts
    procedure tenon_layout_set_cuts_int64, tenon_layout_set_cuts_int32
  end interface
  interface tenon_layout_set_halo
    procedure tenon_layout_set_halo_int64, tenon_layout_set_halo_int32
  end interface
  interface tenon_layout_set_halo_boxes
    procedure tenon_layout_set_halo_boxes_int64, tenon_layout_set_halo_boxes_int32
  end interface
  interface tenon_layout_get_shape
    procedure tenon_layout_get_shape_int64, tenon_layout_get_shape_int32
  end interface
  interface tenon_layout_get_box
    procedure tenon_layout_get_box_int64, tenon_layout_get_box_int32
  end interface
  interface tenon_layout_get_owned_box
    procedure tenon_layout_get_owned_box_int64, tenon_layout_get_owned_box_int32
  end interface
  interface tenon_linearop_get_traffic
    procedure tenon_linearop_get_traffic_int64, tenon_linearop_get_traffic_int32
  end interface
  interface tenon_linearop_test_adjoint
    procedure tenon_linearop_test_adjoint_int64, tenon_linearop_test_adjoint_int32
  end interface
  interface tenon_links_create_from_tiles
    procedure tenon_links_create_from_tiles_int64_f08, tenon_links_create_from_tiles_int64_mpi, &
      tenon_links_create_from_tiles_int32_f08, tenon_links_create_from_tiles_int32_mpi
  end interface
  interface tenon_links_create_from_sides
    procedure tenon_links_create_from_sides_int64_f08, tenon_links_create_from_sides_int64_mpi, &
      tenon_links_create_from_sides_int32_f08, tenon_links_create_from_sides_int32_mpi
  end interface
  interface tenon_links_get_layout
    procedure tenon_links_get_layout_int64, tenon_links_get_layout_int32
  end interface
  interface tenon_progress_show
    procedure tenon_progress_show_int64, tenon_progress_show_int32
  end interface
  interface tenon_machine_create
    procedure tenon_machine_create_int64, tenon_machine_create_int32
  end interface
  interface tenon_machine_create_from_file
    procedure tenon_machine_create_from_file_int64, tenon_machine_create_from_file_int32
  end interface
  interface tenon_machine_create_from_comm
    procedure tenon_machine_create_from_comm_f08, tenon_machine_create_from_comm_mpi
  end interface
  interface tenon_machine_measure
    procedure tenon_machine_measure_f08, tenon_machine_measure_mpi
  end interface
  interface tenon_machine_add_link
    procedure tenon_machine_add_link_int64, tenon_machine_add_link_int32
  end interface
  interface tenon_machine_get_ranks
    procedure tenon_machine_get_ranks_int64, tenon_machine_get_ranks_int32
  end interface
  interface tenon_set_name
    procedure tenon_set_name_trainer, tenon_set_name_partition, tenon_set_name_layout, &
      tenon_set_name_index_map, tenon_set_name_edges, tenon_set_name_links, tenon_set_name_dtensor, &
      tenon_set_name_linearop, tenon_set_name_layer, tenon_set_name_machine, tenon_set_name_optimizer, &
      tenon_set_name_dataset, tenon_set_name_checkpoint, tenon_set_name_field_series, &
      tenon_set_name_placement_list, tenon_set_name_reduction_programs, tenon_set_name_plan
  end interface
  interface tenon_get_name
    procedure tenon_get_name_trainer, tenon_get_name_partition, tenon_get_name_layout, &
      tenon_get_name_index_map, tenon_get_name_edges, tenon_get_name_links, tenon_get_name_dtensor, &
      tenon_get_name_linearop, tenon_get_name_layer, tenon_get_name_machine, tenon_get_name_optimizer, &
      tenon_get_name_dataset, tenon_get_name_checkpoint, tenon_get_name_field_series, &
      tenon_get_name_placement_list, tenon_get_name_reduction_programs, tenon_get_name_plan
  end interface
  interface tenon_set_options_prefix
    procedure tenon_set_options_prefix_trainer, tenon_set_options_prefix_partition, &
      tenon_set_options_prefix_layout, tenon_set_options_prefix_index_map, tenon_set_options_prefix_edges, &
      tenon_set_options_prefix_links, tenon_set_options_prefix_dtensor, tenon_set_options_prefix_linearop, &
      tenon_set_options_prefix_layer, tenon_set_options_prefix_machine, tenon_set_options_prefix_optimizer, &
      tenon_set_options_prefix_dataset, tenon_set_options_prefix_checkpoint, &
      tenon_set_options_prefix_field_series, tenon_set_options_prefix_placement_list, &
      tenon_set_options_prefix_reduction_programs, tenon_set_options_prefix_plan
  end interface
  interface tenon_get_options_prefix
    procedure tenon_get_options_prefix_trainer, tenon_get_options_prefix_partition, &
      tenon_get_options_prefix_layout, tenon_get_options_prefix_index_map, tenon_get_options_prefix_edges, &
      tenon_get_options_prefix_links, tenon_get_options_prefix_dtensor, tenon_get_options_prefix_linearop, &
      tenon_get_options_prefix_layer, tenon_get_options_prefix_machine, tenon_get_options_prefix_optimizer, &
      tenon_get_options_prefix_dataset, tenon_get_options_prefix_checkpoint, &
      tenon_get_options_prefix_field_series, tenon_get_options_prefix_placement_list, &
      tenon_get_options_prefix_reduction_programs, tenon_get_options_prefix_plan
  end interface
  interface tenon_get_class
    procedure tenon_get_class_trainer, tenon_get_class_partition, tenon_get_class_layout, &
      tenon_get_class_index_map, tenon_get_class_edges, tenon_get_class_links, tenon_get_class_dtensor, &
      tenon_get_class_linearop, tenon_get_class_layer, tenon_get_class_machine, tenon_get_class_optimizer, &
      tenon_get_class_dataset, tenon_get_class_checkpoint, tenon_get_class_field_series, &
      tenon_get_class_placement_list, tenon_get_class_reduction_programs, tenon_get_class_plan
  end interface
  interface tenon_get_type
    procedure tenon_get_type_trainer, tenon_get_type_partition, tenon_get_type_layout, &
      tenon_get_type_index_map, tenon_get_type_edges, tenon_get_type_links, tenon_get_type_dtensor, &
      tenon_get_type_linearop, tenon_get_type_layer, tenon_get_type_machine, tenon_get_type_optimizer, &
      tenon_get_type_dataset, tenon_get_type_checkpoint, tenon_get_type_field_series, &
      tenon_get_type_placement_list, tenon_get_type_reduction_programs, tenon_get_type_plan
  end interface
  interface tenon_get_comm
    procedure tenon_get_comm_trainer_f08, tenon_get_comm_trainer_mpi, tenon_get_comm_partition_f08, &
      tenon_get_comm_partition_mpi, tenon_get_comm_layout_f08, tenon_get_comm_layout_mpi, &
      tenon_get_comm_index_map_f08, tenon_get_comm_index_map_mpi, tenon_get_comm_edges_f08, &
      tenon_get_comm_edges_mpi, tenon_get_comm_links_f08, tenon_get_comm_links_mpi, &
      tenon_get_comm_dtensor_f08, tenon_get_comm_dtensor_mpi, tenon_get_comm_linearop_f08, &
      tenon_get_comm_linearop_mpi, tenon_get_comm_layer_f08, tenon_get_comm_layer_mpi, &
      tenon_get_comm_machine_f08, tenon_get_comm_machine_mpi, tenon_get_comm_optimizer_f08, &
      tenon_get_comm_optimizer_mpi, tenon_get_comm_dataset_f08, tenon_get_comm_dataset_mpi, &
      tenon_get_comm_checkpoint_f08, tenon_get_comm_checkpoint_mpi, tenon_get_comm_field_series_f08, &
      tenon_get_comm_field_series_mpi, tenon_get_comm_placement_list_f08, tenon_get_comm_placement_list_mpi, &
      tenon_get_comm_reduction_programs_f08, tenon_get_comm_reduction_programs_mpi, tenon_get_comm_plan_f08, &
      tenon_get_comm_plan_mpi
  end interface
  interface tenon_retain
    procedure tenon_retain_trainer, tenon_retain_partition, tenon_retain_layout, tenon_retain_index_map, &
      tenon_retain_edges, tenon_retain_links, tenon_retain_dtensor, tenon_retain_linearop, &
      tenon_retain_layer, tenon_retain_machine, tenon_retain_optimizer, tenon_retain_dataset, &
      tenon_retain_checkpoint, tenon_retain_field_series, tenon_retain_placement_list, &
      tenon_retain_reduction_programs, tenon_retain_plan
  end interface
  interface tenon_get_references
    procedure tenon_get_references_trainer, tenon_get_references_partition, tenon_get_references_layout, &
      tenon_get_references_index_map, tenon_get_references_edges, tenon_get_references_links, &
      tenon_get_references_dtensor, tenon_get_references_linearop, tenon_get_references_layer, &
      tenon_get_references_machine, tenon_get_references_optimizer, tenon_get_references_dataset, &
      tenon_get_references_checkpoint, tenon_get_references_field_series, &
      tenon_get_references_placement_list, tenon_get_references_reduction_programs, tenon_get_references_plan
  end interface
  interface tenon_view
    procedure tenon_view_trainer, tenon_view_partition, tenon_view_layout, tenon_view_index_map, &
      tenon_view_edges, tenon_view_links, tenon_view_dtensor, tenon_view_linearop, tenon_view_layer, &
      tenon_view_machine, tenon_view_optimizer, tenon_view_dataset, tenon_view_checkpoint, &
      tenon_view_field_series, tenon_view_placement_list, tenon_view_reduction_programs, tenon_view_plan
  end interface
  interface tenon_set_integers
    procedure tenon_set_integers_trainer_int64, tenon_set_integers_trainer_int32, &
      tenon_set_integers_layer_int64, tenon_set_integers_layer_int32, tenon_set_integers_optimizer_int64, &
      tenon_set_integers_optimizer_int32, tenon_set_integers_dataset_int64, tenon_set_integers_dataset_int32, &
      tenon_set_integers_checkpoint_int64, tenon_set_integers_checkpoint_int32, &
      tenon_set_integers_field_series_int64, tenon_set_integers_field_series_int32, &
      tenon_set_integers_plan_int64, tenon_set_integers_plan_int32
  end interface
  interface tenon_set_real
    procedure tenon_set_real_trainer, tenon_set_real_layer, tenon_set_real_optimizer, tenon_set_real_dataset, &
      tenon_set_real_checkpoint, tenon_set_real_field_series, tenon_set_real_plan
  end interface
  interface tenon_set_text
    procedure tenon_set_text_trainer, tenon_set_text_layer, tenon_set_text_optimizer, tenon_set_text_dataset, &
      tenon_set_text_checkpoint, tenon_set_text_field_series, tenon_set_text_plan
  end interface
  interface tenon_set_bool
    procedure tenon_set_bool_trainer, tenon_set_bool_layer, tenon_set_bool_optimizer, tenon_set_bool_dataset, &
      tenon_set_bool_checkpoint, tenon_set_bool_field_series, tenon_set_bool_plan
  end interface
  interface tenon_set_from_options
    procedure tenon_set_from_options_trainer, tenon_set_from_options_layer, tenon_set_from_options_optimizer, &
      tenon_set_from_options_dataset, tenon_set_from_options_checkpoint, tenon_set_from_options_field_series, &
      tenon_set_from_options_plan
  end interface
  interface tenon_get_integers
    procedure tenon_get_integers_trainer_int64, tenon_get_integers_trainer_int32, &
      tenon_get_integers_layer_int64, tenon_get_integers_layer_int32, tenon_get_integers_optimizer_int64, &
      tenon_get_integers_optimizer_int32, tenon_get_integers_dataset_int64, tenon_get_integers_dataset_int32, &
      tenon_get_integers_checkpoint_int64, tenon_get_integers_checkpoint_int32, &
      tenon_get_integers_field_series_int64, tenon_get_integers_field_series_int32, &
      tenon_get_integers_plan_int64, tenon_get_integers_plan_int32
  end interface
  interface tenon_get_real
    procedure tenon_get_real_trainer, tenon_get_real_layer, tenon_get_real_optimizer, tenon_get_real_dataset, &
      tenon_get_real_checkpoint, tenon_get_real_field_series, tenon_get_real_plan
  end interface
  interface tenon_get_text
    procedure tenon_get_text_trainer, tenon_get_text_layer, tenon_get_text_optimizer, tenon_get_text_dataset, &
      tenon_get_text_checkpoint, tenon_get_text_field_series, tenon_get_text_plan
  end interface
  interface tenon_get_bool
    procedure tenon_get_bool_trainer, tenon_get_bool_layer, tenon_get_bool_optimizer, tenon_get_bool_dataset, &
      tenon_get_bool_checkpoint, tenon_get_bool_field_series, tenon_get_bool_plan
  end interface
  interface tenon_is_set
    procedure tenon_is_set_trainer, tenon_is_set_layer, tenon_is_set_optimizer, tenon_is_set_dataset, &
      tenon_is_set_checkpoint, tenon_is_set_field_series, tenon_is_set_plan
  end interface
  interface tenon_optimizer_get_steps
    procedure tenon_optimizer_get_steps_int64, tenon_optimizer_get_steps_int32
  end interface
  interface tenon_options_get_int
    procedure tenon_options_get_int_int64, tenon_options_get_int_int32
  end interface
  interface tenon_options_get_integers
    procedure tenon_options_get_integers_int64, tenon_options_get_integers_int32
  end interface
  interface tenon_partition_create
    procedure tenon_partition_create_f08, tenon_partition_create_mpi
  end interface
  interface tenon_partition_create_from_ranks
    procedure tenon_partition_create_from_ranks_f08, tenon_partition_create_from_ranks_mpi
  end interface
  interface tenon_partition_create_placed
    procedure tenon_partition_create_placed_int64_f08, tenon_partition_create_placed_int64_mpi, &
      tenon_partition_create_placed_int32_f08, tenon_partition_create_placed_int32_mpi
  end interface
  interface tenon_partition_get_axis_comm
    procedure tenon_partition_get_axis_comm_f08, tenon_partition_get_axis_comm_mpi
  end interface
  interface tenon_plan_create
    procedure tenon_plan_create_int64, tenon_plan_create_int32
  end interface
  interface tenon_plan_get_layer_name
    procedure tenon_plan_get_layer_name_int64, tenon_plan_get_layer_name_int32
  end interface
  interface tenon_trainer_run
    procedure tenon_trainer_run_int64, tenon_trainer_run_int32
  end interface
contains
  subroutine tenon_checkpoint_create_f08(comm, checkpoint, ierr)
    type(MPI_Comm), intent(in) :: comm
    type(tenon_checkpoint), intent(out) :: checkpoint
    integer(c_int), intent(out), optional :: ierr
    call tenon_checkpoint_create_mpi(comm%MPI_VAL, checkpoint, ierr)
  end subroutine tenon_checkpoint_create_f08
  ! Creates an empty checkpoint. Collective on comm.
  subroutine tenon_checkpoint_create_mpi(comm, checkpoint, ierr)
    integer(c_int), intent(in) :: comm
    type(tenon_checkpoint), intent(out) :: checkpoint
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointCreate(comm, checkpoint%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_create_mpi
  ! Adds a layer with the layers in it. Local; call on all ranks.
  subroutine tenon_checkpoint_add_layer(checkpoint, layer, name, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointAddLayer(checkpoint%handle, layer%handle, trim(name)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_add_layer
  ! Adds an optimizer: its number of steps and its tensors. Local; call on all ranks.
  subroutine tenon_checkpoint_add_optimizer(checkpoint, optimizer, name, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    type(tenon_optimizer), intent(in) :: optimizer
    character(len=*), intent(in) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointAddOptimizer(checkpoint%handle, optimizer%handle, trim(name)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_add_optimizer
  ! Adds a tensor, such as a field of the solver. Local; call on all ranks.
  subroutine tenon_checkpoint_add_tensor(checkpoint, tensor, name, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    type(tenon_dtensor), intent(in) :: tensor
    character(len=*), intent(in) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointAddTensor(checkpoint%handle, tensor%handle, trim(name)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_add_tensor
  ! Sets an integer, which is written to the file. Local; call on all ranks.
  subroutine tenon_checkpoint_set_int_int64(checkpoint, key, value, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: key
    integer(c_int64_t), intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointSetInt(checkpoint%handle, trim(key)//c_null_char, int(value, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_set_int_int64
  ! Sets an integer, which is written to the file. Local; call on all ranks.
  subroutine tenon_checkpoint_set_int_int32(checkpoint, key, value, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: key
    integer(c_int32_t), intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointSetInt(checkpoint%handle, trim(key)//c_null_char, int(value, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_set_int_int32
  ! Sets a real number, which is written to the file. Local; call on all ranks.
  subroutine tenon_checkpoint_set_real(checkpoint, key, value, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: key
    real(c_double), intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointSetReal(checkpoint%handle, trim(key)//c_null_char, value)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_set_real
  ! Sets a text, which is written to the file. Local; call on all ranks.
  subroutine tenon_checkpoint_set_string(checkpoint, key, value, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: key
    character(len=*), intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointSetString(checkpoint%handle, trim(key)//c_null_char, trim(value)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_set_string
  ! Returns an integer that was set, or read from a file. Not collective.
  subroutine tenon_checkpoint_get_int_int64(checkpoint, key, value, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: key
    integer(c_int64_t), intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_value
    tenon_code = TenonCheckpointGetInt(checkpoint%handle, trim(key)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_value, value, 'value', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_get_int_int64
  ! Returns an integer that was set, or read from a file. Not collective.
  subroutine tenon_checkpoint_get_int_int32(checkpoint, key, value, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: key
    integer(c_int32_t), intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_value
    tenon_code = TenonCheckpointGetInt(checkpoint%handle, trim(key)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_value, value, 'value', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_get_int_int32
  ! Returns a real number that was set, or read from a file. Not collective.
  subroutine tenon_checkpoint_get_real(checkpoint, key, value, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: key
    real(c_double), intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_value
    tenon_code = TenonCheckpointGetReal(checkpoint%handle, trim(key)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_get_real
  ! Returns a text that was set, or read from a file. Not collective.
  subroutine tenon_checkpoint_get_string(checkpoint, key, text, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: key
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TenonCheckpointGetString(checkpoint%handle, trim(key)//c_null_char, c_text, 0_c_int64_t, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonCheckpointGetString(checkpoint%handle, trim(key)//c_null_char, c_text, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_get_string
  ! Writes a file. Collective on the checkpoint.
  subroutine tenon_checkpoint_write(checkpoint, path, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointWrite(checkpoint%handle, trim(path)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_write
  ! Writes the file step-STEP.h5 of a folder. Collective on the checkpoint.
  subroutine tenon_checkpoint_write_step_int64(checkpoint, folder, step, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: folder
    integer(c_int64_t), intent(in) :: step
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointWriteStep(checkpoint%handle, trim(folder)//c_null_char, int(step, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_write_step_int64
  ! Writes the file step-STEP.h5 of a folder. Collective on the checkpoint.
  subroutine tenon_checkpoint_write_step_int32(checkpoint, folder, step, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: folder
    integer(c_int32_t), intent(in) :: step
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointWriteStep(checkpoint%handle, trim(folder)//c_null_char, int(step, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_write_step_int32
  ! Reads a file into the objects that were added. Collective on the checkpoint.
  subroutine tenon_checkpoint_read(checkpoint, path, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointRead(checkpoint%handle, trim(path)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_read
  ! Reads the latest whole file step-N.h5 of a folder. Collective on the checkpoint.
  subroutine tenon_checkpoint_read_latest_int64(checkpoint, folder, step, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: folder
    integer(c_int64_t), intent(out) :: step
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_step
    tenon_code = TenonCheckpointReadLatest(checkpoint%handle, trim(folder)//c_null_char, c_step)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_step, step, 'step', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_read_latest_int64
  ! Reads the latest whole file step-N.h5 of a folder. Collective on the checkpoint.
  subroutine tenon_checkpoint_read_latest_int32(checkpoint, folder, step, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: folder
    integer(c_int32_t), intent(out) :: step
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_step
    tenon_code = TenonCheckpointReadLatest(checkpoint%handle, trim(folder)//c_null_char, c_step)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_step, step, 'step', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_read_latest_int32
  ! Lets a signal be noted instead of ending the program. Local; call on all ranks.
  subroutine tenon_checkpoint_on_signal(checkpoint, signal, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    integer(c_int), intent(in) :: signal
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointOnSignal(checkpoint%handle, signal)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_on_signal
  ! Returns whether the signal has come to any rank. Collective on the checkpoint.
  subroutine tenon_checkpoint_get_signal(checkpoint, signal, ierr)
    type(tenon_checkpoint), intent(in) :: checkpoint
    integer(c_int), intent(out) :: signal
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_signal
    tenon_code = TenonCheckpointGetSignal(checkpoint%handle, c_signal)
    if (tenon_code == TENON_SUCCESS) then
      signal = c_signal
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_get_signal
  ! Prints what a file holds, and verifies all its digests. Not collective.
  subroutine tenon_checkpoint_view_file(path, ierr)
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointViewFile(trim(path)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_view_file
  ! Returns what a file holds, without the values of its tensors, for programs. Not collective.
  subroutine tenon_checkpoint_get_contents(path, text, ierr)
    character(len=*), intent(in) :: path
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TenonCheckpointGetContents(trim(path)//c_null_char, c_text, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonCheckpointGetContents(trim(path)//c_null_char, c_text, int(c_needed, c_int64_t), &
        c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_get_contents
  ! Reads one dataset of a file into a tensor. Collective on the tensor.
  subroutine tenon_dtensor_load(x, path, dataset, ierr)
    type(tenon_dtensor), intent(in) :: x
    character(len=*), intent(in) :: path
    character(len=*), intent(in) :: dataset
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorLoad(x%handle, trim(path)//c_null_char, trim(dataset)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_load
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_checkpoint_destroy(checkpoint, ierr)
    type(tenon_checkpoint), intent(inout) :: checkpoint
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonCheckpointDestroy(checkpoint%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_checkpoint_destroy
  subroutine tenon_dataset_create_idx_f08(comm, images, labels, dataset, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: images
    character(len=*), intent(in) :: labels
    type(tenon_dataset), intent(out) :: dataset
    integer(c_int), intent(out), optional :: ierr
    call tenon_dataset_create_idx_mpi(comm%MPI_VAL, images, labels, dataset, ierr)
  end subroutine tenon_dataset_create_idx_f08
  ! Opens and checks the two files, on all ranks. Collective on comm.
  subroutine tenon_dataset_create_idx_mpi(comm, images, labels, dataset, ierr)
    integer(c_int), intent(in) :: comm
    character(len=*), intent(in) :: images
    character(len=*), intent(in) :: labels
    type(tenon_dataset), intent(out) :: dataset
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDatasetCreateIDX(comm, trim(images)//c_null_char, trim(labels)//c_null_char, &
      dataset%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_dataset_create_idx_mpi
  subroutine tenon_dataset_create_hdf_5_f08(comm, path, data, dataset, labels, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    character(len=*), intent(in) :: data
    type(tenon_dataset), intent(out) :: dataset
    character(len=*), intent(in), optional :: labels
    integer(c_int), intent(out), optional :: ierr
    call tenon_dataset_create_hdf_5_mpi(comm%MPI_VAL, path, data, dataset, labels, ierr)
  end subroutine tenon_dataset_create_hdf_5_f08
  ! Opens and checks datasets of an HDF5 file, on all ranks. Collective on comm.
  subroutine tenon_dataset_create_hdf_5_mpi(comm, path, data, dataset, labels, ierr)
    integer(c_int), intent(in) :: comm
    character(len=*), intent(in) :: path
    character(len=*), intent(in) :: data
    type(tenon_dataset), intent(out) :: dataset
    character(len=*), intent(in), optional :: labels
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_labels
    if (present(labels)) c_labels = trim(labels)//c_null_char
    tenon_code = TenonDatasetCreateHDF5(comm, trim(path)//c_null_char, trim(data)//c_null_char, c_labels, &
      dataset%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_dataset_create_hdf_5_mpi
  ! Returns the shape of the samples. Not collective.
  subroutine tenon_dataset_get_shape_int64(dataset, shape, ierr)
    type(tenon_dataset), intent(in) :: dataset
    integer(c_int64_t), allocatable, intent(out) :: shape(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_needed
    integer(c_int64_t), allocatable :: c_shape(:)
    tenon_code = TenonDatasetGetShape(dataset%handle, 0_c_int64_t, c_shape, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_shape(c_needed))
      tenon_code = TenonDatasetGetShape(dataset%handle, int(c_needed, c_int64_t), c_shape, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (shape(c_needed))
      call give(reverse(c_shape), shape, 'shape', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dataset_get_shape_int64
  ! Returns the shape of the samples. Not collective.
  subroutine tenon_dataset_get_shape_int32(dataset, shape, ierr)
    type(tenon_dataset), intent(in) :: dataset
    integer(c_int32_t), allocatable, intent(out) :: shape(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_needed
    integer(c_int64_t), allocatable :: c_shape(:)
    tenon_code = TenonDatasetGetShape(dataset%handle, 0_c_int64_t, c_shape, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_shape(c_needed))
      tenon_code = TenonDatasetGetShape(dataset%handle, int(c_needed, c_int64_t), c_shape, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (shape(c_needed))
      call give(reverse(c_shape), shape, 'shape', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dataset_get_shape_int32
  ! Sets the layouts of the batches. Collective on the dataset.
  subroutine tenon_dataset_set_up(dataset, x, labels, ierr)
    type(tenon_dataset), intent(in) :: dataset
    type(tenon_layout), intent(in) :: x
    type(tenon_layout), intent(in), optional :: labels
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_labels
    c_labels = c_null_ptr
    if (present(labels)) c_labels = labels%handle
    tenon_code = TenonDatasetSetUp(dataset%handle, x%handle, c_labels)
    call finish(tenon_code, ierr)
  end subroutine tenon_dataset_set_up
  ! Returns the number of complete batches in an epoch. Not collective.
  subroutine tenon_dataset_get_batch_count_int64(dataset, count, ierr)
    type(tenon_dataset), intent(in) :: dataset
    integer(c_int64_t), intent(out) :: count
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_count
    tenon_code = TenonDatasetGetBatchCount(dataset%handle, c_count)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_count, count, 'count', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dataset_get_batch_count_int64
  ! Returns the number of complete batches in an epoch. Not collective.
  subroutine tenon_dataset_get_batch_count_int32(dataset, count, ierr)
    type(tenon_dataset), intent(in) :: dataset
    integer(c_int32_t), intent(out) :: count
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_count
    tenon_code = TenonDatasetGetBatchCount(dataset%handle, c_count)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_count, count, 'count', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dataset_get_batch_count_int32
  ! Fills this rank's local block of a batch. Local; call on all ranks.
  subroutine tenon_dataset_get_batch_int64(dataset, epoch, batch, x, labels, ierr)
    type(tenon_dataset), intent(in) :: dataset
    integer(c_int64_t), intent(in) :: epoch
    integer(c_int64_t), intent(in) :: batch
    type(tenon_dtensor), intent(in) :: x
    type(tenon_dtensor), intent(in), optional :: labels
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_labels
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_dataset_get_batch', 'batch', int(batch, c_int64_t))
    c_labels = c_null_ptr
    if (present(labels)) c_labels = labels%handle
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDatasetGetBatch(dataset%handle, int(epoch, c_int64_t), &
      int(batch - 1, c_int64_t), x%handle, c_labels)
    call finish(tenon_code, ierr)
  end subroutine tenon_dataset_get_batch_int64
  ! Fills this rank's local block of a batch. Local; call on all ranks.
  subroutine tenon_dataset_get_batch_int32(dataset, epoch, batch, x, labels, ierr)
    type(tenon_dataset), intent(in) :: dataset
    integer(c_int32_t), intent(in) :: epoch
    integer(c_int32_t), intent(in) :: batch
    type(tenon_dtensor), intent(in) :: x
    type(tenon_dtensor), intent(in), optional :: labels
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_labels
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_dataset_get_batch', 'batch', int(batch, c_int64_t))
    c_labels = c_null_ptr
    if (present(labels)) c_labels = labels%handle
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDatasetGetBatch(dataset%handle, int(epoch, c_int64_t), &
      int(batch - 1, c_int64_t), x%handle, c_labels)
    call finish(tenon_code, ierr)
  end subroutine tenon_dataset_get_batch_int32
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_dataset_destroy(dataset, ierr)
    type(tenon_dataset), intent(inout) :: dataset
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDatasetDestroy(dataset%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_dataset_destroy
  ! Creates a tensor of zeros. Collective on the layout.
  subroutine tenon_dtensor_create(layout, type, x, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: type
    type(tenon_dtensor), intent(out) :: x
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorCreate(layout%handle, type, x%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_create
  ! Selects the memory space of the local array. Local; call on all ranks, with one space.
  subroutine tenon_dtensor_set_space(x, space, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(in) :: space
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorSetSpace(x%handle, space)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_set_space
  ! Returns the memory space of the local array. Not collective.
  subroutine tenon_dtensor_get_space(x, space, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(out) :: space
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_space
    tenon_code = TenonDTensorGetSpace(x%handle, c_space)
    if (tenon_code == TENON_SUCCESS) then
      space = c_space
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_space
  ! Makes the tensor use a user array in place. Not collective.
  subroutine tenon_dtensor_place_array_int64(x, length, first_owned, strides, ghosts_low, ghosts_high, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int64_t), intent(in) :: length
    type(c_ptr), intent(in), optional :: first_owned
    integer(c_int64_t), intent(in), optional :: strides(:)
    integer(c_int64_t), intent(in), optional :: ghosts_low(:)
    integer(c_int64_t), intent(in), optional :: ghosts_high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_first_owned
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_strides(:)
    integer(c_int64_t), allocatable :: c_ghosts_low(:)
    integer(c_int64_t), allocatable :: c_ghosts_high(:)
    tenon_code = TENON_SUCCESS
    c_first_owned = c_null_ptr
    if (present(first_owned)) c_first_owned = first_owned
    call tensor_dimensions(x%handle, tenon_code, c_extent)
    if (present(strides)) call check_length(tenon_code, 'tenon_dtensor_place_array', 'strides', &
      size(strides), c_extent)
    if (present(strides)) c_strides = int(reverse(strides), c_int64_t)
    if (present(ghosts_low)) call check_length(tenon_code, 'tenon_dtensor_place_array', 'ghosts_low', &
      size(ghosts_low), c_extent)
    if (present(ghosts_low)) c_ghosts_low = int(reverse(ghosts_low), c_int64_t)
    if (present(ghosts_high)) call check_length(tenon_code, 'tenon_dtensor_place_array', 'ghosts_high', &
      size(ghosts_high), c_extent)
    if (present(ghosts_high)) c_ghosts_high = int(reverse(ghosts_high), c_int64_t)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDTensorPlaceArray(x%handle, c_first_owned, c_strides, &
      c_ghosts_low, c_ghosts_high, int(length, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_place_array_int64
  ! Makes the tensor use a user array in place. Not collective.
  subroutine tenon_dtensor_place_array_int32(x, length, first_owned, strides, ghosts_low, ghosts_high, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int32_t), intent(in) :: length
    type(c_ptr), intent(in), optional :: first_owned
    integer(c_int32_t), intent(in), optional :: strides(:)
    integer(c_int32_t), intent(in), optional :: ghosts_low(:)
    integer(c_int32_t), intent(in), optional :: ghosts_high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_first_owned
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_strides(:)
    integer(c_int64_t), allocatable :: c_ghosts_low(:)
    integer(c_int64_t), allocatable :: c_ghosts_high(:)
    tenon_code = TENON_SUCCESS
    c_first_owned = c_null_ptr
    if (present(first_owned)) c_first_owned = first_owned
    call tensor_dimensions(x%handle, tenon_code, c_extent)
    if (present(strides)) call check_length(tenon_code, 'tenon_dtensor_place_array', 'strides', &
      size(strides), c_extent)
    if (present(strides)) c_strides = int(reverse(strides), c_int64_t)
    if (present(ghosts_low)) call check_length(tenon_code, 'tenon_dtensor_place_array', 'ghosts_low', &
      size(ghosts_low), c_extent)
    if (present(ghosts_low)) c_ghosts_low = int(reverse(ghosts_low), c_int64_t)
    if (present(ghosts_high)) call check_length(tenon_code, 'tenon_dtensor_place_array', 'ghosts_high', &
      size(ghosts_high), c_extent)
    if (present(ghosts_high)) c_ghosts_high = int(reverse(ghosts_high), c_int64_t)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDTensorPlaceArray(x%handle, c_first_owned, c_strides, &
      c_ghosts_low, c_ghosts_high, int(length, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_place_array_int32
  ! Makes the tensor use a constant user array in place. Not collective.
  subroutine tenon_dtensor_place_array_read_int64(x, length, first_owned, strides, ghosts_low, ghosts_high, &
    ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int64_t), intent(in) :: length
    type(c_ptr), intent(in), optional :: first_owned
    integer(c_int64_t), intent(in), optional :: strides(:)
    integer(c_int64_t), intent(in), optional :: ghosts_low(:)
    integer(c_int64_t), intent(in), optional :: ghosts_high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_first_owned
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_strides(:)
    integer(c_int64_t), allocatable :: c_ghosts_low(:)
    integer(c_int64_t), allocatable :: c_ghosts_high(:)
    tenon_code = TENON_SUCCESS
    c_first_owned = c_null_ptr
    if (present(first_owned)) c_first_owned = first_owned
    call tensor_dimensions(x%handle, tenon_code, c_extent)
    if (present(strides)) call check_length(tenon_code, 'tenon_dtensor_place_array_read', 'strides', &
      size(strides), c_extent)
    if (present(strides)) c_strides = int(reverse(strides), c_int64_t)
    if (present(ghosts_low)) call check_length(tenon_code, 'tenon_dtensor_place_array_read', 'ghosts_low', &
      size(ghosts_low), c_extent)
    if (present(ghosts_low)) c_ghosts_low = int(reverse(ghosts_low), c_int64_t)
    if (present(ghosts_high)) call check_length(tenon_code, 'tenon_dtensor_place_array_read', 'ghosts_high', &
      size(ghosts_high), c_extent)
    if (present(ghosts_high)) c_ghosts_high = int(reverse(ghosts_high), c_int64_t)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDTensorPlaceArrayRead(x%handle, c_first_owned, &
      c_strides, c_ghosts_low, c_ghosts_high, int(length, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_place_array_read_int64
  ! Makes the tensor use a constant user array in place. Not collective.
  subroutine tenon_dtensor_place_array_read_int32(x, length, first_owned, strides, ghosts_low, ghosts_high, &
    ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int32_t), intent(in) :: length
    type(c_ptr), intent(in), optional :: first_owned
    integer(c_int32_t), intent(in), optional :: strides(:)
    integer(c_int32_t), intent(in), optional :: ghosts_low(:)
    integer(c_int32_t), intent(in), optional :: ghosts_high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_first_owned
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_strides(:)
    integer(c_int64_t), allocatable :: c_ghosts_low(:)
    integer(c_int64_t), allocatable :: c_ghosts_high(:)
    tenon_code = TENON_SUCCESS
    c_first_owned = c_null_ptr
    if (present(first_owned)) c_first_owned = first_owned
    call tensor_dimensions(x%handle, tenon_code, c_extent)
    if (present(strides)) call check_length(tenon_code, 'tenon_dtensor_place_array_read', 'strides', &
      size(strides), c_extent)
    if (present(strides)) c_strides = int(reverse(strides), c_int64_t)
    if (present(ghosts_low)) call check_length(tenon_code, 'tenon_dtensor_place_array_read', 'ghosts_low', &
      size(ghosts_low), c_extent)
    if (present(ghosts_low)) c_ghosts_low = int(reverse(ghosts_low), c_int64_t)
    if (present(ghosts_high)) call check_length(tenon_code, 'tenon_dtensor_place_array_read', 'ghosts_high', &
      size(ghosts_high), c_extent)
    if (present(ghosts_high)) c_ghosts_high = int(reverse(ghosts_high), c_int64_t)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDTensorPlaceArrayRead(x%handle, c_first_owned, &
      c_strides, c_ghosts_low, c_ghosts_high, int(length, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_place_array_read_int32
  ! Associates one user array with each index of a dimension. Not collective.
  subroutine tenon_dtensor_place_arrays_int64(x, dim, first_owned, length, strides, ghosts_low, ghosts_high, &
    ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(in) :: dim
    type(c_ptr), intent(in) :: first_owned(:)
    integer(c_int64_t), intent(in) :: length
    integer(c_int64_t), intent(in), optional :: strides(:)
    integer(c_int64_t), intent(in), optional :: ghosts_low(:)
    integer(c_int64_t), intent(in), optional :: ghosts_high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    integer(c_int) :: c_count
    integer(c_int64_t), allocatable :: c_strides(:)
    integer(c_int64_t), allocatable :: c_ghosts_low(:)
    integer(c_int64_t), allocatable :: c_ghosts_high(:)
    tenon_code = TENON_SUCCESS
    call tensor_dimensions(x%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    c_count = size(first_owned)
    if (present(strides)) call check_length(tenon_code, 'tenon_dtensor_place_arrays', 'strides', &
      size(strides), c_extent)
    if (present(strides)) c_strides = int(reverse(strides), c_int64_t)
    if (present(ghosts_low)) call check_length(tenon_code, 'tenon_dtensor_place_arrays', 'ghosts_low', &
      size(ghosts_low), c_extent)
    if (present(ghosts_low)) c_ghosts_low = int(reverse(ghosts_low), c_int64_t)
    if (present(ghosts_high)) call check_length(tenon_code, 'tenon_dtensor_place_arrays', 'ghosts_high', &
      size(ghosts_high), c_extent)
    if (present(ghosts_high)) c_ghosts_high = int(reverse(ghosts_high), c_int64_t)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDTensorPlaceArrays(x%handle, c_dim, c_count, &
      first_owned, c_strides, c_ghosts_low, c_ghosts_high, int(length, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_place_arrays_int64
  ! Associates one user array with each index of a dimension. Not collective.
  subroutine tenon_dtensor_place_arrays_int32(x, dim, first_owned, length, strides, ghosts_low, ghosts_high, &
    ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(in) :: dim
    type(c_ptr), intent(in) :: first_owned(:)
    integer(c_int32_t), intent(in) :: length
    integer(c_int32_t), intent(in), optional :: strides(:)
    integer(c_int32_t), intent(in), optional :: ghosts_low(:)
    integer(c_int32_t), intent(in), optional :: ghosts_high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    integer(c_int) :: c_count
    integer(c_int64_t), allocatable :: c_strides(:)
    integer(c_int64_t), allocatable :: c_ghosts_low(:)
    integer(c_int64_t), allocatable :: c_ghosts_high(:)
    tenon_code = TENON_SUCCESS
    call tensor_dimensions(x%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    c_count = size(first_owned)
    if (present(strides)) call check_length(tenon_code, 'tenon_dtensor_place_arrays', 'strides', &
      size(strides), c_extent)
    if (present(strides)) c_strides = int(reverse(strides), c_int64_t)
    if (present(ghosts_low)) call check_length(tenon_code, 'tenon_dtensor_place_arrays', 'ghosts_low', &
      size(ghosts_low), c_extent)
    if (present(ghosts_low)) c_ghosts_low = int(reverse(ghosts_low), c_int64_t)
    if (present(ghosts_high)) call check_length(tenon_code, 'tenon_dtensor_place_arrays', 'ghosts_high', &
      size(ghosts_high), c_extent)
    if (present(ghosts_high)) c_ghosts_high = int(reverse(ghosts_high), c_int64_t)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDTensorPlaceArrays(x%handle, c_dim, c_count, &
      first_owned, c_strides, c_ghosts_low, c_ghosts_high, int(length, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_place_arrays_int32
  ! Associates constant user arrays with the indices of a dimension. Not collective.
  subroutine tenon_dtensor_place_arrays_read_int64(x, dim, first_owned, length, strides, ghosts_low, &
    ghosts_high, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(in) :: dim
    type(c_ptr), intent(in) :: first_owned(:)
    integer(c_int64_t), intent(in) :: length
    integer(c_int64_t), intent(in), optional :: strides(:)
    integer(c_int64_t), intent(in), optional :: ghosts_low(:)
    integer(c_int64_t), intent(in), optional :: ghosts_high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    integer(c_int) :: c_count
    integer(c_int64_t), allocatable :: c_strides(:)
    integer(c_int64_t), allocatable :: c_ghosts_low(:)
    integer(c_int64_t), allocatable :: c_ghosts_high(:)
    tenon_code = TENON_SUCCESS
    call tensor_dimensions(x%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    c_count = size(first_owned)
    if (present(strides)) call check_length(tenon_code, 'tenon_dtensor_place_arrays_read', 'strides', &
      size(strides), c_extent)
    if (present(strides)) c_strides = int(reverse(strides), c_int64_t)
    if (present(ghosts_low)) call check_length(tenon_code, 'tenon_dtensor_place_arrays_read', 'ghosts_low', &
      size(ghosts_low), c_extent)
    if (present(ghosts_low)) c_ghosts_low = int(reverse(ghosts_low), c_int64_t)
    if (present(ghosts_high)) call check_length(tenon_code, 'tenon_dtensor_place_arrays_read', 'ghosts_high', &
      size(ghosts_high), c_extent)
    if (present(ghosts_high)) c_ghosts_high = int(reverse(ghosts_high), c_int64_t)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDTensorPlaceArraysRead(x%handle, c_dim, c_count, &
      first_owned, c_strides, c_ghosts_low, c_ghosts_high, int(length, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_place_arrays_read_int64
  ! Associates constant user arrays with the indices of a dimension. Not collective.
  subroutine tenon_dtensor_place_arrays_read_int32(x, dim, first_owned, length, strides, ghosts_low, &
    ghosts_high, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(in) :: dim
    type(c_ptr), intent(in) :: first_owned(:)
    integer(c_int32_t), intent(in) :: length
    integer(c_int32_t), intent(in), optional :: strides(:)
    integer(c_int32_t), intent(in), optional :: ghosts_low(:)
    integer(c_int32_t), intent(in), optional :: ghosts_high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    integer(c_int) :: c_count
    integer(c_int64_t), allocatable :: c_strides(:)
    integer(c_int64_t), allocatable :: c_ghosts_low(:)
    integer(c_int64_t), allocatable :: c_ghosts_high(:)
    tenon_code = TENON_SUCCESS
    call tensor_dimensions(x%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    c_count = size(first_owned)
    if (present(strides)) call check_length(tenon_code, 'tenon_dtensor_place_arrays_read', 'strides', &
      size(strides), c_extent)
    if (present(strides)) c_strides = int(reverse(strides), c_int64_t)
    if (present(ghosts_low)) call check_length(tenon_code, 'tenon_dtensor_place_arrays_read', 'ghosts_low', &
      size(ghosts_low), c_extent)
    if (present(ghosts_low)) c_ghosts_low = int(reverse(ghosts_low), c_int64_t)
    if (present(ghosts_high)) call check_length(tenon_code, 'tenon_dtensor_place_arrays_read', 'ghosts_high', &
      size(ghosts_high), c_extent)
    if (present(ghosts_high)) c_ghosts_high = int(reverse(ghosts_high), c_int64_t)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDTensorPlaceArraysRead(x%handle, c_dim, c_count, &
      first_owned, c_strides, c_ghosts_low, c_ghosts_high, int(length, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_place_arrays_read_int32
  ! Copies the user arrays into the tensor, halo included. Not collective.
  subroutine tenon_dtensor_gather_arrays(x, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorGatherArrays(x%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_gather_arrays
  ! Copies the tensor into the user arrays, halo included. Not collective.
  subroutine tenon_dtensor_scatter_arrays(x, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorScatterArrays(x%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_scatter_arrays
  ! Returns to the array owned by Tenon, with the value that it holds. Not collective.
  subroutine tenon_dtensor_reset_array(x, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorResetArray(x%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_reset_array
  ! Selects private or shared memory for the array owned by Tenon. Not collective.
  subroutine tenon_dtensor_set_private(x, is_private, ierr)
    type(tenon_dtensor), intent(in) :: x
    logical, intent(in) :: is_private
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorSetPrivate(x%handle, c_bool_of(is_private))
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_set_private
  ! Returns the local array for reading and writing. Not collective.
  subroutine tenon_dtensor_get_array(x, type, array, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(in) :: type
    type(c_ptr), intent(out) :: array
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorGetArray(x%handle, type, array)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_array
  ! Ends the access begun by TenonDTensorGetArray(). Not collective.
  subroutine tenon_dtensor_restore_array(x, array, ierr)
    type(tenon_dtensor), intent(in) :: x
    type(c_ptr), intent(inout) :: array
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorRestoreArray(x%handle, array)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_restore_array
  ! Returns the local array for reading. Not collective.
  subroutine tenon_dtensor_get_array_read(x, type, array, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(in) :: type
    type(c_ptr), intent(out) :: array
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorGetArrayRead(x%handle, type, array)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_array_read
  ! Ends an access begun by TenonDTensorGetArrayRead(). Not collective.
  subroutine tenon_dtensor_restore_array_read(x, array, ierr)
    type(tenon_dtensor), intent(in) :: x
    type(c_ptr), intent(inout) :: array
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorRestoreArrayRead(x%handle, array)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_restore_array_read
  ! Returns the local array on the device for reading and writing. Not collective.
  subroutine tenon_dtensor_get_device_array(x, type, array, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(in) :: type
    type(c_ptr), intent(out) :: array
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorGetDeviceArray(x%handle, type, array)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_device_array
  ! Returns the local array on the device for reading. Not collective.
  subroutine tenon_dtensor_get_device_array_read(x, type, array, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(in) :: type
    type(c_ptr), intent(out) :: array
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorGetDeviceArrayRead(x%handle, type, array)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_device_array_read
  ! Returns the strides of the local array. Not collective.
  subroutine tenon_dtensor_get_strides_int64(x, strides, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int64_t), intent(out) :: strides(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_strides(:)
    tenon_code = TENON_SUCCESS
    call tensor_dimensions(x%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_dtensor_get_strides', 'strides', size(strides), c_extent)
    allocate (c_strides(size(strides)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDTensorGetStrides(x%handle, c_strides)
    if (tenon_code == TENON_SUCCESS) then
      call give(reverse(c_strides), strides, 'strides', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_strides_int64
  ! Returns the strides of the local array. Not collective.
  subroutine tenon_dtensor_get_strides_int32(x, strides, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int32_t), intent(out) :: strides(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_strides(:)
    tenon_code = TENON_SUCCESS
    call tensor_dimensions(x%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_dtensor_get_strides', 'strides', size(strides), c_extent)
    allocate (c_strides(size(strides)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDTensorGetStrides(x%handle, c_strides)
    if (tenon_code == TENON_SUCCESS) then
      call give(reverse(c_strides), strides, 'strides', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_strides_int32
  ! Returns the layout of the tensor. Not collective.
  subroutine tenon_dtensor_get_layout(x, layout, ierr)
    type(tenon_dtensor), intent(in) :: x
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorGetLayout(x%handle, layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_layout
  ! Returns the element type of the tensor. Not collective.
  subroutine tenon_dtensor_get_data_type(x, type, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_type
    tenon_code = TenonDTensorGetDataType(x%handle, c_type)
    if (tenon_code == TENON_SUCCESS) then
      type = c_type
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_data_type
  ! Returns the box of this rank, halo included. Not collective.
  subroutine tenon_dtensor_get_box_int64(x, low, high, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int64_t), intent(out) :: low(:)
    integer(c_int64_t), intent(out) :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_low(:)
    integer(c_int64_t), allocatable :: c_high(:)
    tenon_code = TENON_SUCCESS
    call tensor_dimensions(x%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_dtensor_get_box', 'low', size(low), c_extent)
    allocate (c_low(size(low)))
    call check_length(tenon_code, 'tenon_dtensor_get_box', 'high', size(high), c_extent)
    allocate (c_high(size(high)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDTensorGetBox(x%handle, c_low, c_high)
    if (tenon_code == TENON_SUCCESS) then
      call give(reverse(c_low) + 1, low, 'low', tenon_code)
      call give(reverse(c_high), high, 'high', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_box_int64
  ! Returns the box of this rank, halo included. Not collective.
  subroutine tenon_dtensor_get_box_int32(x, low, high, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int32_t), intent(out) :: low(:)
    integer(c_int32_t), intent(out) :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_low(:)
    integer(c_int64_t), allocatable :: c_high(:)
    tenon_code = TENON_SUCCESS
    call tensor_dimensions(x%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_dtensor_get_box', 'low', size(low), c_extent)
    allocate (c_low(size(low)))
    call check_length(tenon_code, 'tenon_dtensor_get_box', 'high', size(high), c_extent)
    allocate (c_high(size(high)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonDTensorGetBox(x%handle, c_low, c_high)
    if (tenon_code == TENON_SUCCESS) then
      call give(reverse(c_low) + 1, low, 'low', tenon_code)
      call give(reverse(c_high), high, 'high', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_box_int32
  ! Returns the number of elements in this rank's box. Not collective.
  subroutine tenon_dtensor_get_local_size_int64(x, elements, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int64_t), intent(out) :: elements
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_elements
    tenon_code = TenonDTensorGetLocalSize(x%handle, c_elements)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_elements, elements, 'elements', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_local_size_int64
  ! Returns the number of elements in this rank's box. Not collective.
  subroutine tenon_dtensor_get_local_size_int32(x, elements, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int32_t), intent(out) :: elements
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_elements
    tenon_code = TenonDTensorGetLocalSize(x%handle, c_elements)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_elements, elements, 'elements', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_get_local_size_int32
  ! Copies a tensor: y <- x. Local; call on all ranks.
  subroutine tenon_dtensor_copy(x, y, ierr)
    type(tenon_dtensor), intent(in) :: x
    type(tenon_dtensor), intent(in) :: y
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorCopy(x%handle, y%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_copy
  ! Computes y <- alpha x + beta y. Local; call on all ranks.
  subroutine tenon_dtensor_axpby(alpha, x, beta, y, ierr)
    real(c_double), intent(in) :: alpha
    type(tenon_dtensor), intent(in) :: x
    real(c_double), intent(in) :: beta
    type(tenon_dtensor), intent(in) :: y
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorAXPBY(alpha, x%handle, beta, y%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_axpby
  ! Scales a tensor: x <- factor x. Local; call on all ranks.
  subroutine tenon_dtensor_scale(factor, x, ierr)
    real(c_double), intent(in) :: factor
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorScale(factor, x%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_scale
  ! Sets every element to one value. Local; call on all ranks.
  subroutine tenon_dtensor_fill_constant(x, value, ierr)
    type(tenon_dtensor), intent(in) :: x
    real(c_double), intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorFillConstant(x%handle, value)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_fill_constant
  ! Fills with random numbers, uniform in [low, high). Local; call on all ranks.
  subroutine tenon_dtensor_fill_uniform_int64(x, seed, stream, low, high, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int64_t), intent(in) :: seed
    integer(c_int64_t), intent(in) :: stream
    real(c_double), intent(in) :: low
    real(c_double), intent(in) :: high
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorFillUniform(x%handle, int(seed, c_int64_t), int(stream, c_int64_t), low, high)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_fill_uniform_int64
  ! Fills with random numbers, uniform in [low, high). Local; call on all ranks.
  subroutine tenon_dtensor_fill_uniform_int32(x, seed, stream, low, high, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int32_t), intent(in) :: seed
    integer(c_int32_t), intent(in) :: stream
    real(c_double), intent(in) :: low
    real(c_double), intent(in) :: high
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorFillUniform(x%handle, int(seed, c_int64_t), int(stream, c_int64_t), low, high)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_fill_uniform_int32
  ! Fills with normally distributed random numbers. Local; call on all ranks.
  subroutine tenon_dtensor_fill_normal_int64(x, seed, stream, mean, deviation, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int64_t), intent(in) :: seed
    integer(c_int64_t), intent(in) :: stream
    real(c_double), intent(in) :: mean
    real(c_double), intent(in) :: deviation
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorFillNormal(x%handle, int(seed, c_int64_t), int(stream, c_int64_t), mean, &
      deviation)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_fill_normal_int64
  ! Fills with normally distributed random numbers. Local; call on all ranks.
  subroutine tenon_dtensor_fill_normal_int32(x, seed, stream, mean, deviation, ierr)
    type(tenon_dtensor), intent(in) :: x
    integer(c_int32_t), intent(in) :: seed
    integer(c_int32_t), intent(in) :: stream
    real(c_double), intent(in) :: mean
    real(c_double), intent(in) :: deviation
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorFillNormal(x%handle, int(seed, c_int64_t), int(stream, c_int64_t), mean, &
      deviation)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_fill_normal_int32
  ! Computes the Euclidean norm. Collective on the tensor.
  subroutine tenon_dtensor_norm(x, norm, ierr)
    type(tenon_dtensor), intent(in) :: x
    real(c_double), intent(out) :: norm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_norm
    tenon_code = TenonDTensorNorm(x%handle, c_norm)
    if (tenon_code == TENON_SUCCESS) then
      norm = c_norm
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_norm
  ! Computes the pairing of a tensor with one in the dual layout. Collective on x and y.
  subroutine tenon_dtensor_pairing(x, y, pairing, ierr)
    type(tenon_dtensor), intent(in) :: x
    type(tenon_dtensor), intent(in) :: y
    real(c_double), intent(out) :: pairing
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_pairing
    tenon_code = TenonDTensorPairing(x%handle, y%handle, c_pairing)
    if (tenon_code == TENON_SUCCESS) then
      pairing = c_pairing
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_pairing
  ! Computes the largest absolute value of any local element. Collective on the tensor.
  subroutine tenon_dtensor_max_abs(x, value, ierr)
    type(tenon_dtensor), intent(in) :: x
    real(c_double), intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_value
    tenon_code = TenonDTensorMaxAbs(x%handle, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_max_abs
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_dtensor_destroy(x, ierr)
    type(tenon_dtensor), intent(inout) :: x
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonDTensorDestroy(x%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_dtensor_destroy
  ! Creates the edges that each rank lists. Collective on targets.
  subroutine tenon_edges_create_int64(targets, sources, target, source, edges, keys, weights, ierr)
    type(tenon_index_map), intent(in) :: targets
    type(tenon_index_map), intent(in) :: sources
    integer(c_int64_t), intent(in) :: target(:)
    integer(c_int64_t), intent(in) :: source(:)
    type(tenon_edges), intent(out) :: edges
    integer(c_int64_t), intent(in), optional :: keys(:)
    real(c_double), intent(in), optional :: weights(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    integer(c_int64_t), allocatable :: c_keys(:)
    real(c_double), allocatable :: c_weights(:)
    tenon_code = TENON_SUCCESS
    c_count = size(target)
    call check_length(tenon_code, 'tenon_edges_create', 'source', size(source), c_count)
    if (present(keys)) call check_length(tenon_code, 'tenon_edges_create', 'keys', size(keys), c_count)
    if (present(weights)) call check_length(tenon_code, 'tenon_edges_create', 'weights', size(weights), &
      c_count)
    if (present(keys)) c_keys = int(keys, c_int64_t)
    if (present(weights)) c_weights = weights
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonEdgesCreate(targets%handle, sources%handle, &
      int(c_count, c_int64_t), int(target, c_int64_t) - 1, int(source, c_int64_t) - 1, c_keys, c_weights, &
      edges%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_edges_create', 'target', int(target, c_int64_t))
    end if
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_edges_create', 'source', int(source, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_edges_create_int64
  ! Creates the edges that each rank lists. Collective on targets.
  subroutine tenon_edges_create_int32(targets, sources, target, source, edges, keys, weights, ierr)
    type(tenon_index_map), intent(in) :: targets
    type(tenon_index_map), intent(in) :: sources
    integer(c_int32_t), intent(in) :: target(:)
    integer(c_int32_t), intent(in) :: source(:)
    type(tenon_edges), intent(out) :: edges
    integer(c_int32_t), intent(in), optional :: keys(:)
    real(c_double), intent(in), optional :: weights(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    integer(c_int64_t), allocatable :: c_keys(:)
    real(c_double), allocatable :: c_weights(:)
    tenon_code = TENON_SUCCESS
    c_count = size(target)
    call check_length(tenon_code, 'tenon_edges_create', 'source', size(source), c_count)
    if (present(keys)) call check_length(tenon_code, 'tenon_edges_create', 'keys', size(keys), c_count)
    if (present(weights)) call check_length(tenon_code, 'tenon_edges_create', 'weights', size(weights), &
      c_count)
    if (present(keys)) c_keys = int(keys, c_int64_t)
    if (present(weights)) c_weights = weights
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonEdgesCreate(targets%handle, sources%handle, &
      int(c_count, c_int64_t), int(target, c_int64_t) - 1, int(source, c_int64_t) - 1, c_keys, c_weights, &
      edges%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_edges_create', 'target', int(target, c_int64_t))
    end if
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_edges_create', 'source', int(source, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_edges_create_int32
  ! Creates edges that lie anywhere, of which several ranks can have one. Collective on targets.
  subroutine tenon_edges_create_shared_int64(targets, sources, target, source, keys, edges, shares, weights, &
    ierr)
    type(tenon_index_map), intent(in) :: targets
    type(tenon_index_map), intent(in) :: sources
    integer(c_int64_t), intent(in) :: target(:)
    integer(c_int64_t), intent(in) :: source(:)
    integer(c_int64_t), intent(in) :: keys(:)
    type(tenon_edges), intent(out) :: edges
    real(c_double), intent(in), optional :: shares(:)
    real(c_double), intent(in), optional :: weights(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    real(c_double), allocatable :: c_shares(:)
    real(c_double), allocatable :: c_weights(:)
    tenon_code = TENON_SUCCESS
    c_count = size(target)
    call check_length(tenon_code, 'tenon_edges_create_shared', 'source', size(source), c_count)
    call check_length(tenon_code, 'tenon_edges_create_shared', 'keys', size(keys), c_count)
    if (present(shares)) call check_length(tenon_code, 'tenon_edges_create_shared', 'shares', size(shares), &
      c_count)
    if (present(weights)) call check_length(tenon_code, 'tenon_edges_create_shared', 'weights', &
      size(weights), c_count)
    if (present(shares)) c_shares = shares
    if (present(weights)) c_weights = weights
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonEdgesCreateShared(targets%handle, sources%handle, &
      int(c_count, c_int64_t), int(target, c_int64_t) - 1, int(source, c_int64_t) - 1, int(keys, c_int64_t), &
      c_shares, c_weights, edges%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_edges_create_shared', 'target', int(target, c_int64_t))
    end if
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_edges_create_shared', 'source', int(source, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_edges_create_shared_int64
  ! Creates edges that lie anywhere, of which several ranks can have one. Collective on targets.
  subroutine tenon_edges_create_shared_int32(targets, sources, target, source, keys, edges, shares, weights, &
    ierr)
    type(tenon_index_map), intent(in) :: targets
    type(tenon_index_map), intent(in) :: sources
    integer(c_int32_t), intent(in) :: target(:)
    integer(c_int32_t), intent(in) :: source(:)
    integer(c_int32_t), intent(in) :: keys(:)
    type(tenon_edges), intent(out) :: edges
    real(c_double), intent(in), optional :: shares(:)
    real(c_double), intent(in), optional :: weights(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    real(c_double), allocatable :: c_shares(:)
    real(c_double), allocatable :: c_weights(:)
    tenon_code = TENON_SUCCESS
    c_count = size(target)
    call check_length(tenon_code, 'tenon_edges_create_shared', 'source', size(source), c_count)
    call check_length(tenon_code, 'tenon_edges_create_shared', 'keys', size(keys), c_count)
    if (present(shares)) call check_length(tenon_code, 'tenon_edges_create_shared', 'shares', size(shares), &
      c_count)
    if (present(weights)) call check_length(tenon_code, 'tenon_edges_create_shared', 'weights', &
      size(weights), c_count)
    if (present(shares)) c_shares = shares
    if (present(weights)) c_weights = weights
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonEdgesCreateShared(targets%handle, sources%handle, &
      int(c_count, c_int64_t), int(target, c_int64_t) - 1, int(source, c_int64_t) - 1, int(keys, c_int64_t), &
      c_shares, c_weights, edges%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_edges_create_shared', 'target', int(target, c_int64_t))
    end if
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_edges_create_shared', 'source', int(source, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_edges_create_shared_int32
  ! Returns the layout of a field on the edges. Collective on the edges.
  subroutine tenon_edges_get_layout_int64(edges, shape, layout, ierr)
    type(tenon_edges), intent(in) :: edges
    integer(c_int64_t), intent(in) :: shape(:)
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    c_ndim = size(shape)
    tenon_code = TenonEdgesGetLayout(edges%handle, c_ndim, int(reverse(shape), c_int64_t), layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_edges_get_layout_int64
  ! Returns the layout of a field on the edges. Collective on the edges.
  subroutine tenon_edges_get_layout_int32(edges, shape, layout, ierr)
    type(tenon_edges), intent(in) :: edges
    integer(c_int32_t), intent(in) :: shape(:)
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    c_ndim = size(shape)
    tenon_code = TenonEdgesGetLayout(edges%handle, c_ndim, int(reverse(shape), c_int64_t), layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_edges_get_layout_int32
  ! Hands edges to a layer. Local; call on all ranks.
  subroutine tenon_layer_set_edges(layer, name, edges, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: name
    type(tenon_edges), intent(in) :: edges
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetEdges(layer%handle, trim(name)//c_null_char, edges%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_edges
  ! Hands an index map to a layer. Local; call on all ranks.
  subroutine tenon_layer_set_index_map(layer, name, map, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: name
    type(tenon_index_map), intent(in) :: map
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetIndexMap(layer%handle, trim(name)//c_null_char, map%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_index_map
  ! Creates a step of message passing, a graph of layers. Collective on edgeNetwork.
  subroutine tenon_layer_create_message_passing(edge_network, node_network, inputs, aggregation, layer, ierr)
    type(tenon_layer), intent(in) :: edge_network
    type(tenon_layer), intent(in) :: node_network
    integer(c_int), intent(in) :: inputs
    character(len=*), intent(in) :: aggregation
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerCreateMessagePassing(edge_network%handle, node_network%handle, inputs, &
      trim(aggregation)//c_null_char, layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_message_passing
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_edges_destroy(edges, ierr)
    type(tenon_edges), intent(inout) :: edges
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonEdgesDestroy(edges%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_edges_destroy
  ! Returns the sentence of an error code ("incompatible shapes"). Not collective.
  function tenon_error_string(code) result(answer)
    integer(c_int), intent(in) :: code
    character(len=:), allocatable :: answer
    answer = text_at(TenonErrorString(code))
  end function tenon_error_string
  ! Returns the name of an error code ("TENON_ERR_SHAPE"). Not collective.
  function tenon_error_name(code) result(answer)
    integer(c_int), intent(in) :: code
    character(len=:), allocatable :: answer
    answer = text_at(TenonErrorName(code))
  end function tenon_error_name
  ! Returns the last error of the calling thread. Not collective.
  subroutine tenon_get_last_error(message, code, ierr)
    character(len=:), allocatable, intent(out) :: message
    integer(c_int), intent(out), optional :: code
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_message(:)
    tenon_code = TenonGetLastError(c_code, c_message, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_message(c_needed))
      tenon_code = TenonGetLastError(c_code, c_message, int(c_needed, c_int64_t), c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      if (present(code)) code = c_code
    end if
    call give_text(c_message, tenon_code, message)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_last_error
  ! Returns the record of the last error, with its call stack. Not collective.
  subroutine tenon_get_last_error_report(report, ierr)
    character(len=:), allocatable, intent(out) :: report
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_report(:)
    tenon_code = TenonGetLastErrorReport(c_report, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_report(c_needed))
      tenon_code = TenonGetLastErrorReport(c_report, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_report, tenon_code, report)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_last_error_report
  ! Adds the location of a caller to the record of an error. Not collective.
  subroutine tenon_add_frame(code, function, file, line, ierr)
    integer(c_int), intent(in) :: code
    character(len=*), intent(in) :: function
    character(len=*), intent(in) :: file
    integer(c_int), intent(in) :: line
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonAddFrame(code, trim(function)//c_null_char, trim(file)//c_null_char, line)
    call finish(tenon_code, ierr)
  end subroutine tenon_add_frame
  ! Ends the program on all ranks, by MPI_Abort() if MPI is running. Does not return.
  subroutine tenon_abort(code)
    integer(c_int), intent(in) :: code
    call TenonAbort(code)
  end subroutine tenon_abort
  ! Records an error and passes it to the error handler, as Tenon's calls do. Not collective.
  subroutine tenon_raise_error(code, message, function, file, line, ierr)
    integer(c_int), intent(in) :: code
    character(len=*), intent(in) :: message
    character(len=*), intent(in) :: function
    character(len=*), intent(in) :: file
    integer(c_int), intent(in) :: line
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonRaiseError(code, trim(message)//c_null_char, trim(function)//c_null_char, &
      trim(file)//c_null_char, line)
    call finish(tenon_code, ierr)
  end subroutine tenon_raise_error
  ! Sets a line that printed errors about dimensions have below their text. Not collective.
  subroutine tenon_set_dimension_note(note, ierr)
    character(len=*), intent(in), optional :: note
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_note
    if (present(note)) c_note = trim(note)//c_null_char
    tenon_code = TenonSetDimensionNote(c_note)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_dimension_note
  ! Sets the input properties that the functions support. Local; call on all ranks.
  subroutine tenon_layer_shell_set_labels(layer, labels, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: labels
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerShellSetLabels(layer%handle, trim(labels)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_set_labels
  ! Sets what is saved for tangent and adjoint. Local; call on all ranks.
  subroutine tenon_layer_shell_set_saved(layer, input, output, ierr)
    type(tenon_layer), intent(in) :: layer
    logical, intent(in) :: input
    logical, intent(in) :: output
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerShellSetSaved(layer%handle, c_bool_of(input), c_bool_of(output))
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_set_saved
  ! Declares a parameter. Local; call on all ranks.
  subroutine tenon_layer_shell_add_parameter_int64(layer, name, shape, fan_in, fan_out, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: shape(:)
    integer(c_int64_t), intent(in) :: fan_in
    integer(c_int64_t), intent(in) :: fan_out
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_rank
    c_rank = size(shape)
    tenon_code = TenonLayerShellAddParameter(layer%handle, trim(name)//c_null_char, c_rank, &
      int(reverse(shape), c_int64_t), int(fan_in, c_int64_t), int(fan_out, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_add_parameter_int64
  ! Declares a parameter. Local; call on all ranks.
  subroutine tenon_layer_shell_add_parameter_int32(layer, name, shape, fan_in, fan_out, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: shape(:)
    integer(c_int32_t), intent(in) :: fan_in
    integer(c_int32_t), intent(in) :: fan_out
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_rank
    c_rank = size(shape)
    tenon_code = TenonLayerShellAddParameter(layer%handle, trim(name)//c_null_char, c_rank, &
      int(reverse(shape), c_int64_t), int(fan_in, c_int64_t), int(fan_out, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_add_parameter_int32
  ! Declares a state, such as running statistics. Local; call on all ranks.
  subroutine tenon_layer_shell_add_state_int64(layer, name, shape, initial, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: shape(:)
    real(c_double), intent(in) :: initial
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_rank
    c_rank = size(shape)
    tenon_code = TenonLayerShellAddState(layer%handle, trim(name)//c_null_char, c_rank, &
      int(reverse(shape), c_int64_t), initial)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_add_state_int64
  ! Declares a state, such as running statistics. Local; call on all ranks.
  subroutine tenon_layer_shell_add_state_int32(layer, name, shape, initial, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: shape(:)
    real(c_double), intent(in) :: initial
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_rank
    c_rank = size(shape)
    tenon_code = TenonLayerShellAddState(layer%handle, trim(name)//c_null_char, c_rank, &
      int(reverse(shape), c_int64_t), initial)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_add_state_int32
  ! Sets the size of the memory that an evaluation saves on this rank. Not collective.
  subroutine tenon_layer_shell_set_workspace_int64(layer, bytes, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int64_t), intent(in) :: bytes
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerShellSetWorkspace(layer%handle, int(bytes, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_set_workspace_int64
  ! Sets the size of the memory that an evaluation saves on this rank. Not collective.
  subroutine tenon_layer_shell_set_workspace_int32(layer, bytes, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int32_t), intent(in) :: bytes
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerShellSetWorkspace(layer%handle, int(bytes, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_set_workspace_int32
  ! Returns the value of a parameter, in full on every rank. Not collective.
  subroutine tenon_layer_shell_get_value(layer, index, value, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: index
    type(tenon_dtensor), intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_shell_get_value', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerShellGetValue(layer%handle, index - 1, &
      value%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_get_value
  ! Returns the tangent of a parameter, in full on every rank. Not collective.
  subroutine tenon_layer_shell_get_tangent(layer, index, tangent, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: index
    type(tenon_dtensor), intent(out) :: tangent
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_shell_get_tangent', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerShellGetTangent(layer%handle, index - 1, &
      tangent%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_get_tangent
  ! Returns the tensor that collects this rank's gradient contributions. Not collective.
  subroutine tenon_layer_shell_get_gradient(layer, index, gradient, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: index
    type(tenon_dtensor), intent(out) :: gradient
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_shell_get_gradient', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerShellGetGradient(layer%handle, index - 1, &
      gradient%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_get_gradient
  ! Returns a state, in full on every rank. Not collective.
  subroutine tenon_layer_shell_get_state(layer, index, state, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: index
    type(tenon_dtensor), intent(out) :: state
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_shell_get_state', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerShellGetState(layer%handle, index - 1, &
      state%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_get_state
  ! Returns the workspace of the current evaluation. Not collective.
  subroutine tenon_layer_shell_get_workspace(layer, workspace, ierr)
    type(tenon_layer), intent(in) :: layer
    type(c_ptr), intent(out) :: workspace
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerShellGetWorkspace(layer%handle, workspace)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_shell_get_workspace
  ! Registers a layer type. Local; call on all ranks.
  subroutine tenon_layer_register(name, create, ierr)
    character(len=*), intent(in) :: name
    type(c_funptr), intent(in) :: create
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerRegister(trim(name)//c_null_char, create)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_register
  ! Gives a layer the settings of a random example of its type. Local; call on all ranks.
  subroutine tenon_layer_set_example_int64(layer, seed, inputs, classes, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int64_t), intent(in) :: seed
    integer(c_int), intent(out) :: inputs
    integer(c_int64_t), intent(out) :: classes
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_inputs
    integer(c_int64_t) :: c_classes
    tenon_code = TenonLayerSetExample(layer%handle, int(seed, c_int64_t), c_inputs, c_classes)
    if (tenon_code == TENON_SUCCESS) then
      inputs = c_inputs
      call give(c_classes, classes, 'classes', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_example_int64
  ! Gives a layer the settings of a random example of its type. Local; call on all ranks.
  subroutine tenon_layer_set_example_int32(layer, seed, inputs, classes, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int32_t), intent(in) :: seed
    integer(c_int), intent(out) :: inputs
    integer(c_int32_t), intent(out) :: classes
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_inputs
    integer(c_int64_t) :: c_classes
    tenon_code = TenonLayerSetExample(layer%handle, int(seed, c_int64_t), c_inputs, c_classes)
    if (tenon_code == TENON_SUCCESS) then
      inputs = c_inputs
      call give(c_classes, classes, 'classes', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_example_int32
  ! Returns where the numbers lie that the inputs of an example hold. Not collective.
  subroutine tenon_layer_get_example_range_int64(layer, seed, low, high, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int64_t), intent(in) :: seed
    real(c_double), intent(out) :: low
    real(c_double), intent(out) :: high
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_low
    real(c_double) :: c_high
    tenon_code = TenonLayerGetExampleRange(layer%handle, int(seed, c_int64_t), c_low, c_high)
    if (tenon_code == TENON_SUCCESS) then
      low = c_low
      high = c_high
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_example_range_int64
  ! Returns where the numbers lie that the inputs of an example hold. Not collective.
  subroutine tenon_layer_get_example_range_int32(layer, seed, low, high, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int32_t), intent(in) :: seed
    real(c_double), intent(out) :: low
    real(c_double), intent(out) :: high
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_low
    real(c_double) :: c_high
    tenon_code = TenonLayerGetExampleRange(layer%handle, int(seed, c_int64_t), c_low, c_high)
    if (tenon_code == TENON_SUCCESS) then
      low = c_low
      high = c_high
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_example_range_int32
  ! Returns the shape of an input, or of the target, of an example. Not collective.
  subroutine tenon_layer_get_example_shape_int64(layer, seed, tensor, shape, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int64_t), intent(in) :: seed
    integer(c_int), intent(in) :: tensor
    integer(c_int64_t), allocatable, intent(out) :: shape(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_needed
    integer(c_int64_t), allocatable :: c_shape(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_get_example_shape', 'tensor', int(tensor, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerGetExampleShape(layer%handle, &
      int(seed, c_int64_t), tensor - 1, 0_c_int64_t, c_shape, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_shape(c_needed))
      tenon_code = TenonLayerGetExampleShape(layer%handle, int(seed, c_int64_t), tensor - 1, &
        int(c_needed, c_int64_t), c_shape, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (shape(c_needed))
      call give(reverse(c_shape), shape, 'shape', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_example_shape_int64
  ! Returns the shape of an input, or of the target, of an example. Not collective.
  subroutine tenon_layer_get_example_shape_int32(layer, seed, tensor, shape, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int32_t), intent(in) :: seed
    integer(c_int), intent(in) :: tensor
    integer(c_int32_t), allocatable, intent(out) :: shape(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_needed
    integer(c_int64_t), allocatable :: c_shape(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_get_example_shape', 'tensor', int(tensor, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerGetExampleShape(layer%handle, &
      int(seed, c_int64_t), tensor - 1, 0_c_int64_t, c_shape, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_shape(c_needed))
      tenon_code = TenonLayerGetExampleShape(layer%handle, int(seed, c_int64_t), tensor - 1, &
        int(c_needed, c_int64_t), c_shape, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (shape(c_needed))
      call give(reverse(c_shape), shape, 'shape', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_example_shape_int32
  ! Creates an embedding into a larger array; new elements are 0. Collective on the layouts.
  subroutine tenon_linearop_create_allocate_int64(from, to, at, type, op, ierr)
    type(tenon_layout), intent(in) :: from
    type(tenon_layout), intent(in) :: to
    integer(c_int64_t), intent(in) :: at(:)
    integer(c_int), intent(in) :: type
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    tenon_code = TENON_SUCCESS
    call layout_dimensions(from%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_linearop_create_allocate', 'at', size(at), c_extent)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLinearOpCreateAllocate(from%handle, to%handle, &
      int(reverse(at), c_int64_t) - 1, type, op%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_linearop_create_allocate', 'at', int(at, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_allocate_int64
  ! Creates an embedding into a larger array; new elements are 0. Collective on the layouts.
  subroutine tenon_linearop_create_allocate_int32(from, to, at, type, op, ierr)
    type(tenon_layout), intent(in) :: from
    type(tenon_layout), intent(in) :: to
    integer(c_int32_t), intent(in) :: at(:)
    integer(c_int), intent(in) :: type
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    tenon_code = TENON_SUCCESS
    call layout_dimensions(from%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_linearop_create_allocate', 'at', size(at), c_extent)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLinearOpCreateAllocate(from%handle, to%handle, &
      int(reverse(at), c_int64_t) - 1, type, op%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_linearop_create_allocate', 'at', int(at, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_allocate_int32
  ! Creates an operator on boxes of the local array. Collective on the layout.
  subroutine tenon_linearop_create_memory_int64(layout, name, low, high, type, op, to, ierr)
    type(tenon_layout), intent(in) :: layout
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: low(:)
    integer(c_int64_t), intent(in) :: high(:)
    integer(c_int), intent(in) :: type
    type(tenon_linearop), intent(out) :: op
    integer(c_int64_t), intent(in), optional :: to(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_to(:)
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_linearop_create_memory', 'low', size(low), c_extent)
    call check_length(tenon_code, 'tenon_linearop_create_memory', 'high', size(high), c_extent)
    if (present(to)) call check_length(tenon_code, 'tenon_linearop_create_memory', 'to', size(to), c_extent)
    if (present(to)) c_to = int(reverse(to), c_int64_t) - 1
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLinearOpCreateMemory(layout%handle, &
      trim(name)//c_null_char, int(reverse(low), c_int64_t) - 1, int(reverse(high), c_int64_t), c_to, type, &
      op%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_linearop_create_memory', 'low', int(low, c_int64_t))
    end if
    if (tenon_code /= TENON_SUCCESS .and. present(to)) then
      call explain_counted(tenon_code, 'tenon_linearop_create_memory', 'to', int(to, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_memory_int64
  ! Creates an operator on boxes of the local array. Collective on the layout.
  subroutine tenon_linearop_create_memory_int32(layout, name, low, high, type, op, to, ierr)
    type(tenon_layout), intent(in) :: layout
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: low(:)
    integer(c_int32_t), intent(in) :: high(:)
    integer(c_int), intent(in) :: type
    type(tenon_linearop), intent(out) :: op
    integer(c_int32_t), intent(in), optional :: to(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_to(:)
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_linearop_create_memory', 'low', size(low), c_extent)
    call check_length(tenon_code, 'tenon_linearop_create_memory', 'high', size(high), c_extent)
    if (present(to)) call check_length(tenon_code, 'tenon_linearop_create_memory', 'to', size(to), c_extent)
    if (present(to)) c_to = int(reverse(to), c_int64_t) - 1
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLinearOpCreateMemory(layout%handle, &
      trim(name)//c_null_char, int(reverse(low), c_int64_t) - 1, int(reverse(high), c_int64_t), c_to, type, &
      op%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_linearop_create_memory', 'low', int(low, c_int64_t))
    end if
    if (tenon_code /= TENON_SUCCESS .and. present(to)) then
      call explain_counted(tenon_code, 'tenon_linearop_create_memory', 'to', int(to, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_memory_int32
  ! Registers an operator type. Local; call on all ranks.
  subroutine tenon_linearop_register(name, functions, ierr)
    character(len=*), intent(in) :: name
    type(c_ptr), intent(in) :: functions
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpRegister(trim(name)//c_null_char, functions)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_register
  ! Lists all placements of the axes on the system. Not collective.
  subroutine tenon_placement_list_create_int64(system, sizes, list, ierr)
    integer(c_int64_t), intent(in) :: system(:)
    integer(c_int64_t), intent(in) :: sizes(:)
    type(tenon_placement_list), intent(out) :: list
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_levels
    integer(c_int) :: c_axes
    c_levels = size(system)
    c_axes = size(sizes)
    tenon_code = TenonPlacementListCreate(c_levels, int(system, c_int64_t), c_axes, int(sizes, c_int64_t), &
      list%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_placement_list_create_int64
  ! Lists all placements of the axes on the system. Not collective.
  subroutine tenon_placement_list_create_int32(system, sizes, list, ierr)
    integer(c_int32_t), intent(in) :: system(:)
    integer(c_int32_t), intent(in) :: sizes(:)
    type(tenon_placement_list), intent(out) :: list
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_levels
    integer(c_int) :: c_axes
    c_levels = size(system)
    c_axes = size(sizes)
    tenon_code = TenonPlacementListCreate(c_levels, int(system, c_int64_t), c_axes, int(sizes, c_int64_t), &
      list%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_placement_list_create_int32
  ! Returns the number of placements. Not collective.
  subroutine tenon_placement_list_get_count_int64(list, count, ierr)
    type(tenon_placement_list), intent(in) :: list
    integer(c_int64_t), intent(out) :: count
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_count
    tenon_code = TenonPlacementListGetCount(list%handle, c_count)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_count, count, 'count', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_placement_list_get_count_int64
  ! Returns the number of placements. Not collective.
  subroutine tenon_placement_list_get_count_int32(list, count, ierr)
    type(tenon_placement_list), intent(in) :: list
    integer(c_int32_t), intent(out) :: count
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_count
    tenon_code = TenonPlacementListGetCount(list%handle, c_count)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_count, count, 'count', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_placement_list_get_count_int32
  ! Returns the matrix of a placement. Not collective.
  subroutine tenon_placement_list_get_matrix_int64(list, index, matrix, ierr)
    type(tenon_placement_list), intent(in) :: list
    integer(c_int64_t), intent(in) :: index
    integer(c_int64_t), intent(out) :: matrix(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t), allocatable :: c_matrix(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_placement_list_get_matrix', 'index', int(index, c_int64_t))
    allocate (c_matrix(size(matrix)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPlacementListGetMatrix(list%handle, &
      int(index - 1, c_int64_t), c_matrix)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_matrix, matrix, 'matrix', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_placement_list_get_matrix_int64
  ! Returns the matrix of a placement. Not collective.
  subroutine tenon_placement_list_get_matrix_int32(list, index, matrix, ierr)
    type(tenon_placement_list), intent(in) :: list
    integer(c_int32_t), intent(in) :: index
    integer(c_int32_t), intent(out) :: matrix(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t), allocatable :: c_matrix(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_placement_list_get_matrix', 'index', int(index, c_int64_t))
    allocate (c_matrix(size(matrix)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPlacementListGetMatrix(list%handle, &
      int(index - 1, c_int64_t), c_matrix)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_matrix, matrix, 'matrix', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_placement_list_get_matrix_int32
  ! Returns the levels of a reduction over some axes. Not collective.
  subroutine tenon_placement_list_get_hierarchy_int64(list, index, reduce, levels, hierarchy, ierr)
    type(tenon_placement_list), intent(in) :: list
    integer(c_int64_t), intent(in) :: index
    integer(c_int), intent(in) :: reduce(:)
    integer(c_int), intent(out) :: levels
    integer(c_int64_t), intent(out) :: hierarchy(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_axes
    integer(c_int) :: c_levels
    integer(c_int64_t), allocatable :: c_hierarchy(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_placement_list_get_hierarchy', 'index', int(index, c_int64_t))
    c_axes = size(reduce)
    allocate (c_hierarchy(size(hierarchy)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPlacementListGetHierarchy(list%handle, &
      int(index - 1, c_int64_t), c_axes, reduce, c_levels, c_hierarchy)
    if (tenon_code == TENON_SUCCESS) then
      levels = c_levels
      call give(c_hierarchy, hierarchy, 'hierarchy', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_placement_list_get_hierarchy_int64
  ! Returns the levels of a reduction over some axes. Not collective.
  subroutine tenon_placement_list_get_hierarchy_int32(list, index, reduce, levels, hierarchy, ierr)
    type(tenon_placement_list), intent(in) :: list
    integer(c_int32_t), intent(in) :: index
    integer(c_int), intent(in) :: reduce(:)
    integer(c_int), intent(out) :: levels
    integer(c_int32_t), intent(out) :: hierarchy(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_axes
    integer(c_int) :: c_levels
    integer(c_int64_t), allocatable :: c_hierarchy(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_placement_list_get_hierarchy', 'index', int(index, c_int64_t))
    c_axes = size(reduce)
    allocate (c_hierarchy(size(hierarchy)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPlacementListGetHierarchy(list%handle, &
      int(index - 1, c_int64_t), c_axes, reduce, c_levels, c_hierarchy)
    if (tenon_code == TENON_SUCCESS) then
      levels = c_levels
      call give(c_hierarchy, hierarchy, 'hierarchy', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_placement_list_get_hierarchy_int32
  ! Adds a reduction of one step of the job, for which a placement is to be chosen. Not collective.
  subroutine tenon_placement_list_add_reduction(list, reduce, bytes, ierr)
    type(tenon_placement_list), intent(in) :: list
    integer(c_int), intent(in) :: reduce(:)
    real(c_double), intent(in) :: bytes
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_axes
    c_axes = size(reduce)
    tenon_code = TenonPlacementListAddReduction(list%handle, c_axes, reduce, bytes)
    call finish(tenon_code, ierr)
  end subroutine tenon_placement_list_add_reduction
  ! Predicts how long all reductions that were added take on a machine, one after the other, for each
  ! placement, and returns the fastest placement. Not collective.
  subroutine tenon_placement_list_predict_int64(list, machine, algorithm, size_limit, best, seconds, ierr)
    type(tenon_placement_list), intent(in) :: list
    type(tenon_machine), intent(in) :: machine
    integer(c_int), intent(in) :: algorithm
    integer(c_int), intent(in) :: size_limit
    integer(c_int64_t), intent(out) :: best
    real(c_double), intent(out), optional :: seconds(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double), allocatable :: c_seconds(:)
    integer(c_int64_t) :: c_best
    if (present(seconds)) allocate (c_seconds(size(seconds)))
    tenon_code = TenonPlacementListPredict(list%handle, machine%handle, algorithm, size_limit, c_seconds, &
      c_best)
    if (tenon_code == TENON_SUCCESS) then
      if (present(seconds)) seconds = c_seconds
      call give(c_best, best, 'best', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_placement_list_predict_int64
  ! Predicts how long all reductions that were added take on a machine, one after the other, for each
  ! placement, and returns the fastest placement. Not collective.
  subroutine tenon_placement_list_predict_int32(list, machine, algorithm, size_limit, best, seconds, ierr)
    type(tenon_placement_list), intent(in) :: list
    type(tenon_machine), intent(in) :: machine
    integer(c_int), intent(in) :: algorithm
    integer(c_int), intent(in) :: size_limit
    integer(c_int32_t), intent(out) :: best
    real(c_double), intent(out), optional :: seconds(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double), allocatable :: c_seconds(:)
    integer(c_int64_t) :: c_best
    if (present(seconds)) allocate (c_seconds(size(seconds)))
    tenon_code = TenonPlacementListPredict(list%handle, machine%handle, algorithm, size_limit, c_seconds, &
      c_best)
    if (tenon_code == TENON_SUCCESS) then
      if (present(seconds)) seconds = c_seconds
      call give(c_best, best, 'best', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_placement_list_predict_int32
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_placement_list_destroy(list, ierr)
    type(tenon_placement_list), intent(inout) :: list
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlacementListDestroy(list%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_placement_list_destroy
  ! Lists all programs of limited size that reduce over some axes. Not collective.
  subroutine tenon_reduction_programs_create_int64(list, index, reduce, size_limit, programs, ierr)
    type(tenon_placement_list), intent(in) :: list
    integer(c_int64_t), intent(in) :: index
    integer(c_int), intent(in) :: reduce(:)
    integer(c_int), intent(in) :: size_limit
    type(tenon_reduction_programs), intent(out) :: programs
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_axes
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_reduction_programs_create', 'index', int(index, c_int64_t))
    c_axes = size(reduce)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonReductionProgramsCreate(list%handle, &
      int(index - 1, c_int64_t), c_axes, reduce, size_limit, programs%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_create_int64
  ! Lists all programs of limited size that reduce over some axes. Not collective.
  subroutine tenon_reduction_programs_create_int32(list, index, reduce, size_limit, programs, ierr)
    type(tenon_placement_list), intent(in) :: list
    integer(c_int32_t), intent(in) :: index
    integer(c_int), intent(in) :: reduce(:)
    integer(c_int), intent(in) :: size_limit
    type(tenon_reduction_programs), intent(out) :: programs
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_axes
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_reduction_programs_create', 'index', int(index, c_int64_t))
    c_axes = size(reduce)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonReductionProgramsCreate(list%handle, &
      int(index - 1, c_int64_t), c_axes, reduce, size_limit, programs%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_create_int32
  ! Returns the number of programs. Not collective.
  subroutine tenon_reduction_programs_get_count_int64(programs, count, ierr)
    type(tenon_reduction_programs), intent(in) :: programs
    integer(c_int64_t), intent(out) :: count
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_count
    tenon_code = TenonReductionProgramsGetCount(programs%handle, c_count)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_count, count, 'count', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_get_count_int64
  ! Returns the number of programs. Not collective.
  subroutine tenon_reduction_programs_get_count_int32(programs, count, ierr)
    type(tenon_reduction_programs), intent(in) :: programs
    integer(c_int32_t), intent(out) :: count
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_count
    tenon_code = TenonReductionProgramsGetCount(programs%handle, c_count)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_count, count, 'count', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_get_count_int32
  ! Returns the number of steps of a program. Not collective.
  subroutine tenon_reduction_programs_get_size_int64(programs, index, steps, ierr)
    type(tenon_reduction_programs), intent(in) :: programs
    integer(c_int64_t), intent(in) :: index
    integer(c_int), intent(out) :: steps
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_steps
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_reduction_programs_get_size', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonReductionProgramsGetSize(programs%handle, &
      int(index - 1, c_int64_t), c_steps)
    if (tenon_code == TENON_SUCCESS) then
      steps = c_steps
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_get_size_int64
  ! Returns the number of steps of a program. Not collective.
  subroutine tenon_reduction_programs_get_size_int32(programs, index, steps, ierr)
    type(tenon_reduction_programs), intent(in) :: programs
    integer(c_int32_t), intent(in) :: index
    integer(c_int), intent(out) :: steps
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_steps
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_reduction_programs_get_size', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonReductionProgramsGetSize(programs%handle, &
      int(index - 1, c_int64_t), c_steps)
    if (tenon_code == TENON_SUCCESS) then
      steps = c_steps
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_get_size_int32
  ! Returns a program in the notation at the top of this file. Not collective.
  subroutine tenon_reduction_programs_get_text_int64(programs, index, text, ierr)
    type(tenon_reduction_programs), intent(in) :: programs
    integer(c_int64_t), intent(in) :: index
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_reduction_programs_get_text', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonReductionProgramsGetText(programs%handle, &
      int(index - 1, c_int64_t), c_text, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonReductionProgramsGetText(programs%handle, int(index - 1, c_int64_t), c_text, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_get_text_int64
  ! Returns a program in the notation at the top of this file. Not collective.
  subroutine tenon_reduction_programs_get_text_int32(programs, index, text, ierr)
    type(tenon_reduction_programs), intent(in) :: programs
    integer(c_int32_t), intent(in) :: index
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_reduction_programs_get_text', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonReductionProgramsGetText(programs%handle, &
      int(index - 1, c_int64_t), c_text, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonReductionProgramsGetText(programs%handle, int(index - 1, c_int64_t), c_text, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_get_text_int32
  ! Returns collective and group sizes of a step. Not collective.
  subroutine tenon_reduction_programs_get_step_int64(programs, index, step, collective, groups, members, ierr)
    type(tenon_reduction_programs), intent(in) :: programs
    integer(c_int64_t), intent(in) :: index
    integer(c_int), intent(in) :: step
    integer(c_int), intent(out) :: collective
    integer(c_int), intent(out) :: groups
    integer(c_int), intent(out) :: members
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_collective
    integer(c_int) :: c_groups
    integer(c_int) :: c_members
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_reduction_programs_get_step', 'index', int(index, c_int64_t))
    call check_counted(tenon_code, 'tenon_reduction_programs_get_step', 'step', int(step, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonReductionProgramsGetStep(programs%handle, &
      int(index - 1, c_int64_t), step - 1, c_collective, c_groups, c_members)
    if (tenon_code == TENON_SUCCESS) then
      collective = c_collective
      groups = c_groups
      members = c_members
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_get_step_int64
  ! Returns collective and group sizes of a step. Not collective.
  subroutine tenon_reduction_programs_get_step_int32(programs, index, step, collective, groups, members, ierr)
    type(tenon_reduction_programs), intent(in) :: programs
    integer(c_int32_t), intent(in) :: index
    integer(c_int), intent(in) :: step
    integer(c_int), intent(out) :: collective
    integer(c_int), intent(out) :: groups
    integer(c_int), intent(out) :: members
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_collective
    integer(c_int) :: c_groups
    integer(c_int) :: c_members
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_reduction_programs_get_step', 'index', int(index, c_int64_t))
    call check_counted(tenon_code, 'tenon_reduction_programs_get_step', 'step', int(step, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonReductionProgramsGetStep(programs%handle, &
      int(index - 1, c_int64_t), step - 1, c_collective, c_groups, c_members)
    if (tenon_code == TENON_SUCCESS) then
      collective = c_collective
      groups = c_groups
      members = c_members
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_get_step_int32
  ! Returns the devices of the groups of a step. Not collective.
  subroutine tenon_reduction_programs_get_groups_int64(programs, index, step, devices, ierr)
    type(tenon_reduction_programs), intent(in) :: programs
    integer(c_int64_t), intent(in) :: index
    integer(c_int), intent(in) :: step
    integer(c_int), intent(out) :: devices(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int), allocatable :: c_devices(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_reduction_programs_get_groups', 'index', int(index, c_int64_t))
    call check_counted(tenon_code, 'tenon_reduction_programs_get_groups', 'step', int(step, c_int64_t))
    allocate (c_devices(size(devices)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonReductionProgramsGetGroups(programs%handle, &
      int(index - 1, c_int64_t), step - 1, c_devices)
    if (tenon_code == TENON_SUCCESS) then
      devices = c_devices
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_get_groups_int64
  ! Returns the devices of the groups of a step. Not collective.
  subroutine tenon_reduction_programs_get_groups_int32(programs, index, step, devices, ierr)
    type(tenon_reduction_programs), intent(in) :: programs
    integer(c_int32_t), intent(in) :: index
    integer(c_int), intent(in) :: step
    integer(c_int), intent(out) :: devices(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int), allocatable :: c_devices(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_reduction_programs_get_groups', 'index', int(index, c_int64_t))
    call check_counted(tenon_code, 'tenon_reduction_programs_get_groups', 'step', int(step, c_int64_t))
    allocate (c_devices(size(devices)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonReductionProgramsGetGroups(programs%handle, &
      int(index - 1, c_int64_t), step - 1, c_devices)
    if (tenon_code == TENON_SUCCESS) then
      devices = c_devices
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_get_groups_int32
  ! Predicts the time of each program on a machine. Not collective.
  subroutine tenon_reduction_programs_predict(programs, machine, algorithm, bytes, seconds, ierr)
    type(tenon_reduction_programs), intent(in) :: programs
    type(tenon_machine), intent(in) :: machine
    integer(c_int), intent(in) :: algorithm
    real(c_double), intent(in) :: bytes
    real(c_double), intent(out) :: seconds(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double), allocatable :: c_seconds(:)
    allocate (c_seconds(size(seconds)))
    tenon_code = TenonReductionProgramsPredict(programs%handle, machine%handle, algorithm, bytes, c_seconds)
    if (tenon_code == TENON_SUCCESS) then
      seconds = c_seconds
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_predict
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_reduction_programs_destroy(programs, ierr)
    type(tenon_reduction_programs), intent(inout) :: programs
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonReductionProgramsDestroy(programs%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_reduction_programs_destroy
  subroutine tenon_field_series_create_f08(comm, path, spatial, series, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    integer(c_int), intent(in) :: spatial
    type(tenon_field_series), intent(out) :: series
    integer(c_int), intent(out), optional :: ierr
    call tenon_field_series_create_mpi(comm%MPI_VAL, path, spatial, series, ierr)
  end subroutine tenon_field_series_create_f08
  ! Creates a series without fields. Collective on comm.
  subroutine tenon_field_series_create_mpi(comm, path, spatial, series, ierr)
    integer(c_int), intent(in) :: comm
    character(len=*), intent(in) :: path
    integer(c_int), intent(in) :: spatial
    type(tenon_field_series), intent(out) :: series
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonFieldSeriesCreate(comm, trim(path)//c_null_char, spatial, series%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_field_series_create_mpi
  ! Sets the grid. Local; call on all ranks.
  subroutine tenon_field_series_set_grid(series, origin, spacing, ierr)
    type(tenon_field_series), intent(in) :: series
    real(c_double), intent(in) :: origin(:)
    real(c_double), intent(in) :: spacing(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_spatial
    tenon_code = TENON_SUCCESS
    c_spatial = size(origin)
    call check_length(tenon_code, 'tenon_field_series_set_grid', 'spacing', size(spacing), c_spatial)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonFieldSeriesSetGrid(series%handle, c_spatial, &
      reverse(origin), reverse(spacing))
    call finish(tenon_code, ierr)
  end subroutine tenon_field_series_set_grid
  ! Sets a mesh in place of the grid. Collective on the series; once, before fields are added.
  subroutine tenon_field_series_set_mesh_int64(series, cells, shape, corner, places, nodes, ierr)
    type(tenon_field_series), intent(in) :: series
    type(tenon_index_map), intent(in) :: cells
    character(len=*), intent(in) :: shape
    integer(c_int64_t), intent(in) :: corner(:)
    real(c_double), intent(in) :: places(:)
    type(tenon_index_map), intent(in), optional :: nodes
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_nodes
    integer(c_int) :: c_corners
    integer(c_int) :: c_coordinates
    c_nodes = c_null_ptr
    if (present(nodes)) c_nodes = nodes%handle
    c_corners = size(corner)
    c_coordinates = size(places)
    tenon_code = TenonFieldSeriesSetMesh(series%handle, cells%handle, trim(shape)//c_null_char, c_nodes, &
      int(c_corners, c_int64_t), int(corner, c_int64_t) - 1, int(c_coordinates, c_int64_t), places)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_field_series_set_mesh', 'corner', int(corner, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_field_series_set_mesh_int64
  ! Sets a mesh in place of the grid. Collective on the series; once, before fields are added.
  subroutine tenon_field_series_set_mesh_int32(series, cells, shape, corner, places, nodes, ierr)
    type(tenon_field_series), intent(in) :: series
    type(tenon_index_map), intent(in) :: cells
    character(len=*), intent(in) :: shape
    integer(c_int32_t), intent(in) :: corner(:)
    real(c_double), intent(in) :: places(:)
    type(tenon_index_map), intent(in), optional :: nodes
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_nodes
    integer(c_int) :: c_corners
    integer(c_int) :: c_coordinates
    c_nodes = c_null_ptr
    if (present(nodes)) c_nodes = nodes%handle
    c_corners = size(corner)
    c_coordinates = size(places)
    tenon_code = TenonFieldSeriesSetMesh(series%handle, cells%handle, trim(shape)//c_null_char, c_nodes, &
      int(c_corners, c_int64_t), int(corner, c_int64_t) - 1, int(c_coordinates, c_int64_t), places)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_field_series_set_mesh', 'corner', int(corner, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_field_series_set_mesh_int32
  ! Adds a field. Local; call on all ranks.
  subroutine tenon_field_series_add_tensor(series, tensor, name, components, ierr)
    type(tenon_field_series), intent(in) :: series
    type(tenon_dtensor), intent(in) :: tensor
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: components
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_components
    if (present(components)) c_components = trim(components)//c_null_char
    tenon_code = TenonFieldSeriesAddTensor(series%handle, tensor%handle, trim(name)//c_null_char, &
      c_components)
    call finish(tenon_code, ierr)
  end subroutine tenon_field_series_add_tensor
  ! Writes the fields of one time. Collective on the series.
  subroutine tenon_field_series_write_int64(series, step, time, ierr)
    type(tenon_field_series), intent(in) :: series
    integer(c_int64_t), intent(in) :: step
    real(c_double), intent(in) :: time
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonFieldSeriesWrite(series%handle, int(step, c_int64_t), time)
    call finish(tenon_code, ierr)
  end subroutine tenon_field_series_write_int64
  ! Writes the fields of one time. Collective on the series.
  subroutine tenon_field_series_write_int32(series, step, time, ierr)
    type(tenon_field_series), intent(in) :: series
    integer(c_int32_t), intent(in) :: step
    real(c_double), intent(in) :: time
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonFieldSeriesWrite(series%handle, int(step, c_int64_t), time)
    call finish(tenon_code, ierr)
  end subroutine tenon_field_series_write_int32
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_field_series_destroy(series, ierr)
    type(tenon_field_series), intent(inout) :: series
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonFieldSeriesDestroy(series%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_field_series_destroy
  subroutine tenon_index_map_create_from_ids_int64_f08(comm, owned, ids, map, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int64_t), intent(in) :: owned
    integer(c_int64_t), intent(in) :: ids(:)
    type(tenon_index_map), intent(out) :: map
    integer(c_int), intent(out), optional :: ierr
    call tenon_index_map_create_from_ids_int64_mpi(comm%MPI_VAL, owned, ids, map, ierr)
  end subroutine tenon_index_map_create_from_ids_int64_f08
  ! Creates the map of a mesh's nodes from the ids that each rank lists. Collective on comm.
  subroutine tenon_index_map_create_from_ids_int64_mpi(comm, owned, ids, map, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int64_t), intent(in) :: owned
    integer(c_int64_t), intent(in) :: ids(:)
    type(tenon_index_map), intent(out) :: map
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    c_count = size(ids)
    tenon_code = TenonIndexMapCreateFromIds(comm, int(owned, c_int64_t), int(c_count, c_int64_t), &
      int(ids, c_int64_t), map%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_index_map_create_from_ids_int64_mpi
  subroutine tenon_index_map_create_from_ids_int32_f08(comm, owned, ids, map, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int32_t), intent(in) :: owned
    integer(c_int32_t), intent(in) :: ids(:)
    type(tenon_index_map), intent(out) :: map
    integer(c_int), intent(out), optional :: ierr
    call tenon_index_map_create_from_ids_int32_mpi(comm%MPI_VAL, owned, ids, map, ierr)
  end subroutine tenon_index_map_create_from_ids_int32_f08
  ! Creates the map of a mesh's nodes from the ids that each rank lists. Collective on comm.
  subroutine tenon_index_map_create_from_ids_int32_mpi(comm, owned, ids, map, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int32_t), intent(in) :: owned
    integer(c_int32_t), intent(in) :: ids(:)
    type(tenon_index_map), intent(out) :: map
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    c_count = size(ids)
    tenon_code = TenonIndexMapCreateFromIds(comm, int(owned, c_int64_t), int(c_count, c_int64_t), &
      int(ids, c_int64_t), map%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_index_map_create_from_ids_int32_mpi
  ! Creates the map from the nodes of a mesh to the same in the order of their ids. Collective on nodes.
  subroutine tenon_index_map_create_sorted(nodes, sorted, ierr)
    type(tenon_index_map), intent(in) :: nodes
    type(tenon_index_map), intent(out) :: sorted
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonIndexMapCreateSorted(nodes%handle, sorted%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_index_map_create_sorted
  ! Creates a map between the elements of two layouts. Collective on the layouts.
  subroutine tenon_index_map_create_cells_int64(from, to, joint, target, source, map, weights, ierr)
    type(tenon_layout), intent(in) :: from
    type(tenon_layout), intent(in) :: to
    integer(c_int), intent(in) :: joint(:)
    integer(c_int64_t), intent(in) :: target(:)
    integer(c_int64_t), intent(in) :: source(:)
    type(tenon_index_map), intent(out) :: map
    real(c_double), intent(in), optional :: weights(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int) :: c_count
    real(c_double), allocatable :: c_weights(:)
    tenon_code = TENON_SUCCESS
    call layout_dimensions(from%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_index_map_create_cells', 'joint', size(joint), c_extent)
    c_count = size(target)
    call check_length(tenon_code, 'tenon_index_map_create_cells', 'source', size(source), c_count)
    if (present(weights)) call check_length(tenon_code, 'tenon_index_map_create_cells', 'weights', &
      size(weights), c_count)
    if (present(weights)) c_weights = weights
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonIndexMapCreateCells(from%handle, to%handle, &
      reverse(joint), int(c_count, c_int64_t), int(target, c_int64_t) - 1, int(source, c_int64_t) - 1, &
      c_weights, map%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_index_map_create_cells', 'target', int(target, c_int64_t))
    end if
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_index_map_create_cells', 'source', int(source, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_index_map_create_cells_int64
  ! Creates a map between the elements of two layouts. Collective on the layouts.
  subroutine tenon_index_map_create_cells_int32(from, to, joint, target, source, map, weights, ierr)
    type(tenon_layout), intent(in) :: from
    type(tenon_layout), intent(in) :: to
    integer(c_int), intent(in) :: joint(:)
    integer(c_int32_t), intent(in) :: target(:)
    integer(c_int32_t), intent(in) :: source(:)
    type(tenon_index_map), intent(out) :: map
    real(c_double), intent(in), optional :: weights(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int) :: c_count
    real(c_double), allocatable :: c_weights(:)
    tenon_code = TENON_SUCCESS
    call layout_dimensions(from%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_index_map_create_cells', 'joint', size(joint), c_extent)
    c_count = size(target)
    call check_length(tenon_code, 'tenon_index_map_create_cells', 'source', size(source), c_count)
    if (present(weights)) call check_length(tenon_code, 'tenon_index_map_create_cells', 'weights', &
      size(weights), c_count)
    if (present(weights)) c_weights = weights
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonIndexMapCreateCells(from%handle, to%handle, &
      reverse(joint), int(c_count, c_int64_t), int(target, c_int64_t) - 1, int(source, c_int64_t) - 1, &
      c_weights, map%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_index_map_create_cells', 'target', int(target, c_int64_t))
    end if
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_index_map_create_cells', 'source', int(source, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_index_map_create_cells_int32
  ! Returns the layouts of tensors that the map takes and gives. Collective on the map.
  subroutine tenon_index_map_get_layouts_int64(map, shape, domain, range, ierr)
    type(tenon_index_map), intent(in) :: map
    integer(c_int64_t), intent(in) :: shape(:)
    type(tenon_layout), intent(out) :: domain
    type(tenon_layout), intent(out) :: range
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    c_ndim = size(shape)
    tenon_code = TenonIndexMapGetLayouts(map%handle, c_ndim, int(reverse(shape), c_int64_t), domain%handle, &
      range%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_index_map_get_layouts_int64
  ! Returns the layouts of tensors that the map takes and gives. Collective on the map.
  subroutine tenon_index_map_get_layouts_int32(map, shape, domain, range, ierr)
    type(tenon_index_map), intent(in) :: map
    integer(c_int32_t), intent(in) :: shape(:)
    type(tenon_layout), intent(out) :: domain
    type(tenon_layout), intent(out) :: range
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    c_ndim = size(shape)
    tenon_code = TenonIndexMapGetLayouts(map%handle, c_ndim, int(reverse(shape), c_int64_t), domain%handle, &
      range%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_index_map_get_layouts_int32
  ! Creates the operator of a map. Collective on the map.
  subroutine tenon_linearop_create_index_map(map, domain, type, op, ierr)
    type(tenon_index_map), intent(in) :: map
    type(tenon_layout), intent(in) :: domain
    integer(c_int), intent(in) :: type
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpCreateIndexMap(map%handle, domain%handle, type, op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_index_map
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_index_map_destroy(map, ierr)
    type(tenon_index_map), intent(inout) :: map
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonIndexMapDestroy(map%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_index_map_destroy
  ! Finalises Tenon. Collective on the communicator of the initialisation.
  subroutine tenon_finalize(ierr)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonFinalize()
    call finish(tenon_code, ierr)
  end subroutine tenon_finalize
  ! Returns whether Tenon is initialised. Not collective; can be called at any time.
  subroutine tenon_initialized(initialized, ierr)
    logical, intent(out) :: initialized
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_initialized
    tenon_code = TenonInitialized(c_initialized)
    if (tenon_code == TENON_SUCCESS) then
      initialized = c_initialized /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_initialized
  ! Returns the version of the library. Not collective; can be called at any time.
  subroutine tenon_get_version(major, minor, patch, ierr)
    integer(c_int), intent(out), optional :: major
    integer(c_int), intent(out), optional :: minor
    integer(c_int), intent(out), optional :: patch
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_major
    integer(c_int) :: c_minor
    integer(c_int) :: c_patch
    tenon_code = TenonGetVersion(c_major, c_minor, c_patch)
    if (tenon_code == TENON_SUCCESS) then
      if (present(major)) major = c_major
      if (present(minor)) minor = c_minor
      if (present(patch)) patch = c_patch
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_version
  ! Returns what is known of the library and of this computer. Not collective; can be called at any time.
  subroutine tenon_get_info(what, text, ierr)
    character(len=*), intent(in) :: what
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TenonGetInfo(trim(what)//c_null_char, c_text, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonGetInfo(trim(what)//c_null_char, c_text, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_info
  ! Sets the element type of input, parameters and output. Local; call on all ranks.
  subroutine tenon_layer_set_data_type(layer, type, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetDataType(layer%handle, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_data_type
  ! Sets the memory space of input, parameters and output. Local; call on all ranks.
  subroutine tenon_layer_set_space(layer, space, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: space
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetSpace(layer%handle, space)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_space
  ! Sets how many evaluations can await their adjoint. Local; call on all ranks.
  subroutine tenon_layer_set_stack_depth(layer, depth, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: depth
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetStackDepth(layer%handle, depth)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_stack_depth
  ! Sets the signature, overriding the default choice. Local; call on all ranks.
  subroutine tenon_layer_set_signature(layer, labels, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: labels
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetSignature(layer%handle, trim(labels)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_signature
  ! Sets the layout in which parameters are stored and updated. Local; call on all ranks.
  subroutine tenon_layer_set_storage(layer, storage, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: storage
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetStorage(layer%handle, trim(storage)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_storage
  ! Prepares the layer for inputs in one layout. Collective on the layer.
  subroutine tenon_layer_set_up(layer, input, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_layout), intent(in) :: input
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetUp(layer%handle, input%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_up
  ! Returns the layout of the output, for the last set-up input. Not collective.
  subroutine tenon_layer_get_output_layout(layer, output, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_layout), intent(out) :: output
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerGetOutputLayout(layer%handle, output%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_output_layout
  ! Creates a tensor for the output, for the last set-up input. Collective on the layer.
  subroutine tenon_layer_create_output(layer, y, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(out) :: y
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerCreateOutput(layer%handle, y%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_output
  ! Creates a tensor for dL/dy, in the dual of the output's layout. Collective on the layer.
  subroutine tenon_layer_create_output_cotangent(layer, dy, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(out) :: dy
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerCreateOutputCotangent(layer%handle, dy%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_output_cotangent
  ! Creates a tensor for dL/dx, in the dual of the input's layout. Collective on the layer.
  subroutine tenon_layer_create_input_cotangent(layer, dx, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(out) :: dx
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerCreateInputCotangent(layer%handle, dx%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_input_cotangent
  ! Draws the initial values of all parameters again. Local; call on all ranks.
  subroutine tenon_layer_initialize_int64(layer, seed, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int64_t), intent(in) :: seed
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerInitialize(layer%handle, int(seed, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_initialize_int64
  ! Draws the initial values of all parameters again. Local; call on all ranks.
  subroutine tenon_layer_initialize_int32(layer, seed, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int32_t), intent(in) :: seed
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerInitialize(layer%handle, int(seed, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_initialize_int32
  ! Returns the number of parameter tensors, inner layers included. Not collective.
  subroutine tenon_layer_get_parameter_count(layer, count, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(out) :: count
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    tenon_code = TenonLayerGetParameterCount(layer%handle, c_count)
    if (tenon_code == TENON_SUCCESS) then
      count = c_count
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_parameter_count
  ! Returns a parameter, for reading and writing. Local; call on all ranks.
  subroutine tenon_layer_get_parameter(layer, index, parameter, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: index
    type(tenon_dtensor), intent(out) :: parameter
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_get_parameter', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerGetParameter(layer%handle, index - 1, &
      parameter%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_parameter
  ! Returns the gradient of the loss with respect to a parameter. Collective on the layer.
  subroutine tenon_layer_get_parameter_gradient(layer, index, gradient, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: index
    type(tenon_dtensor), intent(out) :: gradient
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_get_parameter_gradient', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerGetParameterGradient(layer%handle, index - 1, &
      gradient%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_parameter_gradient
  ! Returns the gradient of a parameter summed over the ranks. Collective on the layer.
  subroutine tenon_layer_get_reduced_gradient(layer, index, gradient, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: index
    type(tenon_dtensor), intent(out) :: gradient
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_get_reduced_gradient', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerGetReducedGradient(layer%handle, index - 1, &
      gradient%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_reduced_gradient
  ! Returns the tangent (direction) of a parameter. Local; call on all ranks.
  subroutine tenon_layer_get_parameter_tangent(layer, index, tangent, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: index
    type(tenon_dtensor), intent(out) :: tangent
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_get_parameter_tangent', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerGetParameterTangent(layer%handle, index - 1, &
      tangent%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_parameter_tangent
  ! Returns the number of state tensors, inner layers included. Not collective.
  subroutine tenon_layer_get_state_count(layer, count, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(out) :: count
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    tenon_code = TenonLayerGetStateCount(layer%handle, c_count)
    if (tenon_code == TENON_SUCCESS) then
      count = c_count
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_state_count
  ! Returns a state, for reading and writing. Collective on the layer.
  subroutine tenon_layer_get_state(layer, index, state, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: index
    type(tenon_dtensor), intent(out) :: state
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_get_state', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerGetState(layer%handle, index - 1, state%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_state
  ! Switches between training and inference mode. Local; call on all ranks.
  subroutine tenon_layer_set_training(layer, training, ierr)
    type(tenon_layer), intent(in) :: layer
    logical, intent(in) :: training
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetTraining(layer%handle, c_bool_of(training))
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_training
  ! Sets whether evaluations save what the adjoint needs. Local; call on all ranks.
  subroutine tenon_layer_set_recording(layer, recording, ierr)
    type(tenon_layer), intent(in) :: layer
    logical, intent(in) :: recording
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetRecording(layer%handle, c_bool_of(recording))
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_recording
  ! Freezes or releases all parameters, inner layers included. Local; call on all ranks.
  subroutine tenon_layer_set_frozen(layer, frozen, ierr)
    type(tenon_layer), intent(in) :: layer
    logical, intent(in) :: frozen
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetFrozen(layer%handle, c_bool_of(frozen))
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_frozen
  ! Sets the target of a loss for the next evaluations. Local; call on all ranks.
  subroutine tenon_layer_set_target(layer, target, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: target
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetTarget(layer%handle, target%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_target
  ! Sets the weights of a loss for the next evaluations. Local; call on all ranks.
  subroutine tenon_layer_set_target_weights(layer, weights, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: weights
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetTargetWeights(layer%handle, weights%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_target_weights
  ! Evaluates the layer: y <- f(x). Collective on the layer.
  subroutine tenon_layer_apply(layer, x, y, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: x
    type(tenon_dtensor), intent(in) :: y
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerApply(layer%handle, x%handle, y%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_apply
  ! Evaluates the tangent (JVP) at the last evaluation: dy <- J dx. Collective on the layer.
  subroutine tenon_layer_apply_tangent(layer, dy, dx, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: dy
    type(tenon_dtensor), intent(in), optional :: dx
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_dx
    c_dx = c_null_ptr
    if (present(dx)) c_dx = dx%handle
    tenon_code = TenonLayerApplyTangent(layer%handle, c_dx, dy%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_apply_tangent
  ! Evaluates the adjoint (VJP) of the last evaluation: dx <- J* dy. Collective on the layer.
  subroutine tenon_layer_apply_adjoint(layer, dy, dx, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: dy
    type(tenon_dtensor), intent(in), optional :: dx
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_dx
    c_dx = c_null_ptr
    if (present(dx)) c_dx = dx%handle
    tenon_code = TenonLayerApplyAdjoint(layer%handle, dy%handle, c_dx)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_apply_adjoint
  ! Discards all pending evaluations. Local; call on all ranks.
  subroutine tenon_layer_clear_stack(layer, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerClearStack(layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_clear_stack
  ! Sets all parameter gradients to zero. Local; call on all ranks.
  subroutine tenon_layer_zero_gradients(layer, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerZeroGradients(layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_zero_gradients
  ! Tests whether the adjoint is that of the tangent, at a point. Collective on the layer.
  subroutine tenon_layer_test_adjoint_int64(layer, seed, x, tangent, adjoint, relative, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int64_t), intent(in) :: seed
    type(tenon_dtensor), intent(in), optional :: x
    real(c_double), intent(out), optional :: tangent
    real(c_double), intent(out), optional :: adjoint
    real(c_double), intent(out), optional :: relative
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_x
    real(c_double) :: c_tangent
    real(c_double) :: c_adjoint
    real(c_double) :: c_relative
    c_x = c_null_ptr
    if (present(x)) c_x = x%handle
    tenon_code = TenonLayerTestAdjoint(layer%handle, c_x, int(seed, c_int64_t), c_tangent, c_adjoint, &
      c_relative)
    if (tenon_code == TENON_SUCCESS) then
      if (present(tangent)) tangent = c_tangent
      if (present(adjoint)) adjoint = c_adjoint
      if (present(relative)) relative = c_relative
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_test_adjoint_int64
  ! Tests whether the adjoint is that of the tangent, at a point. Collective on the layer.
  subroutine tenon_layer_test_adjoint_int32(layer, seed, x, tangent, adjoint, relative, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int32_t), intent(in) :: seed
    type(tenon_dtensor), intent(in), optional :: x
    real(c_double), intent(out), optional :: tangent
    real(c_double), intent(out), optional :: adjoint
    real(c_double), intent(out), optional :: relative
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_x
    real(c_double) :: c_tangent
    real(c_double) :: c_adjoint
    real(c_double) :: c_relative
    c_x = c_null_ptr
    if (present(x)) c_x = x%handle
    tenon_code = TenonLayerTestAdjoint(layer%handle, c_x, int(seed, c_int64_t), c_tangent, c_adjoint, &
      c_relative)
    if (tenon_code == TENON_SUCCESS) then
      if (present(tangent)) tangent = c_tangent
      if (present(adjoint)) adjoint = c_adjoint
      if (present(relative)) relative = c_relative
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_test_adjoint_int32
  ! Tests whether the tangent is the derivative, at a point. Collective on the layer.
  subroutine tenon_layer_test_taylor_int64(layer, seed, x, order, remainder, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int64_t), intent(in) :: seed
    type(tenon_dtensor), intent(in), optional :: x
    real(c_double), intent(out), optional :: order
    real(c_double), intent(out), optional :: remainder
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_x
    real(c_double) :: c_order
    real(c_double) :: c_remainder
    c_x = c_null_ptr
    if (present(x)) c_x = x%handle
    tenon_code = TenonLayerTestTaylor(layer%handle, c_x, int(seed, c_int64_t), c_order, c_remainder)
    if (tenon_code == TENON_SUCCESS) then
      if (present(order)) order = c_order
      if (present(remainder)) remainder = c_remainder
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_test_taylor_int64
  ! Tests whether the tangent is the derivative, at a point. Collective on the layer.
  subroutine tenon_layer_test_taylor_int32(layer, seed, x, order, remainder, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int32_t), intent(in) :: seed
    type(tenon_dtensor), intent(in), optional :: x
    real(c_double), intent(out), optional :: order
    real(c_double), intent(out), optional :: remainder
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_x
    real(c_double) :: c_order
    real(c_double) :: c_remainder
    c_x = c_null_ptr
    if (present(x)) c_x = x%handle
    tenon_code = TenonLayerTestTaylor(layer%handle, c_x, int(seed, c_int64_t), c_order, c_remainder)
    if (tenon_code == TENON_SUCCESS) then
      if (present(order)) order = c_order
      if (present(remainder)) remainder = c_remainder
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_test_taylor_int32
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_layer_destroy(layer, ierr)
    type(tenon_layer), intent(inout) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerDestroy(layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_destroy
  subroutine tenon_layer_create_sequential_f08(comm, layer, ierr)
    type(MPI_Comm), intent(in) :: comm
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_sequential_mpi(comm%MPI_VAL, layer, ierr)
  end subroutine tenon_layer_create_sequential_f08
  ! Creates a sequential layer, to be filled by TenonLayerSequentialAdd(). Collective on comm.
  subroutine tenon_layer_create_sequential_mpi(comm, layer, ierr)
    integer(c_int), intent(in) :: comm
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerCreateSequential(comm, layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_sequential_mpi
  ! Appends a layer to a sequential layer. Local; call on all ranks.
  subroutine tenon_layer_sequential_add(container, layer, ierr)
    type(tenon_layer), intent(in) :: container
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSequentialAdd(container%handle, layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_sequential_add
  subroutine tenon_layer_create_graph_f08(comm, layer, ierr)
    type(MPI_Comm), intent(in) :: comm
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_graph_mpi(comm%MPI_VAL, layer, ierr)
  end subroutine tenon_layer_create_graph_f08
  ! Creates a graph, to be filled by TenonLayerGraphAddNode(). Collective on comm.
  subroutine tenon_layer_create_graph_mpi(comm, layer, ierr)
    integer(c_int), intent(in) :: comm
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerCreateGraph(comm, layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_graph_mpi
  ! Adds a node that evaluates a layer. Local; call on all ranks.
  subroutine tenon_layer_graph_add_node(graph, layer, inputs, node, ierr)
    type(tenon_layer), intent(in) :: graph
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: inputs(:)
    integer(c_int), intent(out), optional :: node
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    integer(c_int) :: c_node
    tenon_code = TENON_SUCCESS
    c_count = size(inputs)
    call check_nodes(tenon_code, 'tenon_layer_graph_add_node', 'inputs', inputs)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerGraphAddNode(graph%handle, layer%handle, c_count, &
      c_nodes(inputs), c_node)
    if (tenon_code == TENON_SUCCESS) then
      if (present(node)) node = c_node + 1
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_graph_add_node
  ! Returns the layout of a layer's user-supplied boundary values. Not collective.
  subroutine tenon_layer_get_boundary_layout(layer, input, boundary, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_layout), intent(in) :: input
    type(tenon_layout), intent(out) :: boundary
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerGetBoundaryLayout(layer%handle, input%handle, boundary%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_boundary_layout
  ! Prepares a layer with several inputs. Collective on the layer.
  subroutine tenon_layer_set_up_many(layer, inputs, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_layout), intent(in) :: inputs(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    c_count = size(inputs)
    tenon_code = TenonLayerSetUpMany(layer%handle, c_count, inputs%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_up_many
  ! Creates a tensor for the cotangent of one of several inputs. Collective on the layer.
  subroutine tenon_layer_create_input_cotangent_at(layer, input, dx, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: input
    type(tenon_dtensor), intent(out) :: dx
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_create_input_cotangent_at', 'input', int(input, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerCreateInputCotangentAt(layer%handle, input - 1, &
      dx%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_input_cotangent_at
  ! Evaluates a layer with several inputs. Collective on the layer.
  subroutine tenon_layer_apply_many(layer, x, y, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: x(:)
    type(tenon_dtensor), intent(in) :: y
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    c_count = size(x)
    tenon_code = TenonLayerApplyMany(layer%handle, c_count, x%handle, y%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_apply_many
  ! Evaluates the tangent of a layer with several inputs. Collective on the layer.
  subroutine tenon_layer_apply_tangent_many(layer, dx, dy, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: dx(:)
    type(tenon_dtensor), intent(in) :: dy
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    c_count = size(dx)
    tenon_code = TenonLayerApplyTangentMany(layer%handle, c_count, dx%handle, dy%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_apply_tangent_many
  ! Evaluates the adjoint of a layer with several inputs. Collective on the layer.
  subroutine tenon_layer_apply_adjoint_many(layer, dy, dx, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: dy
    type(tenon_dtensor), intent(in) :: dx(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    c_count = size(dx)
    tenon_code = TenonLayerApplyAdjointMany(layer%handle, dy%handle, c_count, dx%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_apply_adjoint_many
  ! Returns the number of inputs of a layer. Not collective.
  subroutine tenon_layer_get_input_count(layer, count, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(out) :: count
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    tenon_code = TenonLayerGetInputCount(layer%handle, c_count)
    if (tenon_code == TENON_SUCCESS) then
      count = c_count
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_input_count
  ! Returns the name of an input. Not collective.
  subroutine tenon_layer_get_input_name(layer, input, name, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: input
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_get_input_name', 'input', int(input, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerGetInputName(layer%handle, input - 1, c_name, &
      0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonLayerGetInputName(layer%handle, input - 1, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_input_name
  ! Returns the number of outputs of a layer: 1, but for graphs that say others. Not collective.
  subroutine tenon_layer_get_output_count(layer, count, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(out) :: count
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    tenon_code = TenonLayerGetOutputCount(layer%handle, c_count)
    if (tenon_code == TENON_SUCCESS) then
      count = c_count
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_output_count
  ! Returns the name of an output. Not collective.
  subroutine tenon_layer_get_output_name(layer, output, name, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: output
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_get_output_name', 'output', int(output, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerGetOutputName(layer%handle, output - 1, c_name, &
      0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonLayerGetOutputName(layer%handle, output - 1, c_name, int(c_needed, c_int64_t), &
        c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_output_name
  ! Returns the layout of one of several outputs. Not collective.
  subroutine tenon_layer_get_output_layout_at(layer, output, layout, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: output
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_get_output_layout_at', 'output', int(output, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerGetOutputLayoutAt(layer%handle, output - 1, &
      layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_output_layout_at
  ! Creates a tensor for one of several outputs. Collective on the layer.
  subroutine tenon_layer_create_output_at(layer, output, y, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: output
    type(tenon_dtensor), intent(out) :: y
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_create_output_at', 'output', int(output, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerCreateOutputAt(layer%handle, output - 1, y%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_output_at
  ! Creates a tensor for the cotangent of one of several outputs. Collective on the layer.
  subroutine tenon_layer_create_output_cotangent_at(layer, output, dy, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: output
    type(tenon_dtensor), intent(out) :: dy
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_create_output_cotangent_at', 'output', int(output, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerCreateOutputCotangentAt(layer%handle, output - 1, &
      dy%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_output_cotangent_at
  ! Evaluates a layer with several inputs and outputs. Collective on the layer.
  subroutine tenon_layer_apply_all(layer, x, y, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: x(:)
    type(tenon_dtensor), intent(in) :: y(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_inputs
    integer(c_int) :: c_outputs
    c_inputs = size(x)
    c_outputs = size(y)
    tenon_code = TenonLayerApplyAll(layer%handle, c_inputs, x%handle, c_outputs, y%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_apply_all
  ! Evaluates the tangent of a layer with several inputs and outputs. Collective on the layer.
  subroutine tenon_layer_apply_tangent_all(layer, dx, dy, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: dx(:)
    type(tenon_dtensor), intent(in) :: dy(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_inputs
    integer(c_int) :: c_outputs
    c_inputs = size(dx)
    c_outputs = size(dy)
    tenon_code = TenonLayerApplyTangentAll(layer%handle, c_inputs, dx%handle, c_outputs, dy%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_apply_tangent_all
  ! Evaluates the adjoint of a layer with several inputs and outputs. Collective on the layer.
  subroutine tenon_layer_apply_adjoint_all(layer, dy, dx, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: dy(:)
    type(tenon_dtensor), intent(in) :: dx(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_outputs
    integer(c_int) :: c_inputs
    c_outputs = size(dy)
    c_inputs = size(dx)
    tenon_code = TenonLayerApplyAdjointAll(layer%handle, c_outputs, dy%handle, c_inputs, dx%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_apply_adjoint_all
  subroutine tenon_layer_create_from_file_f08(comm, name_or_path, layer, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: name_or_path
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_from_file_mpi(comm%MPI_VAL, name_or_path, layer, ierr)
  end subroutine tenon_layer_create_from_file_f08
  ! Creates a layer or network from a network file. Collective on comm.
  subroutine tenon_layer_create_from_file_mpi(comm, name_or_path, layer, ierr)
    integer(c_int), intent(in) :: comm
    character(len=*), intent(in) :: name_or_path
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerCreateFromFile(comm, trim(name_or_path)//c_null_char, layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_from_file_mpi
  subroutine tenon_layer_create_from_model_f08(comm, path, layer, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_from_model_mpi(comm%MPI_VAL, path, layer, ierr)
  end subroutine tenon_layer_create_from_model_f08
  ! Creates a layer from the file of a network that was trained in PyTorch. Collective on comm.
  subroutine tenon_layer_create_from_model_mpi(comm, path, layer, ierr)
    integer(c_int), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerCreateFromModel(comm, trim(path)//c_null_char, layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_from_model_mpi
  ! Runs the test that a model's file holds. Collective on the layer.
  subroutine tenon_layer_test_model(layer, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerTestModel(layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_test_model
  ! Writes a network file of a layer, without weights. Collective on the layer.
  subroutine tenon_layer_save_network(layer, path, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSaveNetwork(layer%handle, trim(path)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_save_network
  ! Reads all parameters and running statistics from a weights file. Collective on the layer.
  subroutine tenon_layer_load_weights(layer, path, map, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: path
    character(len=*), intent(in), optional :: map
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_map
    if (present(map)) c_map = trim(map)//c_null_char
    tenon_code = TenonLayerLoadWeights(layer%handle, trim(path)//c_null_char, c_map)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_load_weights
  ! Writes all parameters and running statistics to a weights file. Collective on the layer.
  subroutine tenon_layer_save_weights(layer, path, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSaveWeights(layer%handle, trim(path)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_save_weights
  ! Returns a layer inside a container. Not collective.
  subroutine tenon_layer_get_child(layer, path, child, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: path
    type(tenon_layer), intent(out) :: child
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerGetChild(layer%handle, trim(path)//c_null_char, child%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_child
  ! Returns the number of layers inside a container. Not collective.
  subroutine tenon_layer_get_child_count(layer, count, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(out) :: count
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    tenon_code = TenonLayerGetChildCount(layer%handle, c_count)
    if (tenon_code == TENON_SUCCESS) then
      count = c_count
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_child_count
  ! Returns a layer inside a container by its number. Not collective.
  subroutine tenon_layer_get_child_at(layer, index, child, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: index
    type(tenon_layer), intent(out) :: child
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_get_child_at', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerGetChildAt(layer%handle, index - 1, child%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_child_at
  ! Returns a parameter by its path, as TenonLayerGetParameter(). Local; call on all ranks.
  subroutine tenon_layer_get_parameter_at(layer, path, parameter, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: path
    type(tenon_dtensor), intent(out) :: parameter
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerGetParameterAt(layer%handle, trim(path)//c_null_char, parameter%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_parameter_at
  subroutine tenon_layer_create_type_f08(comm, name, layer, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: name
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_type_mpi(comm%MPI_VAL, name, layer, ierr)
  end subroutine tenon_layer_create_type_f08
  ! Creates a layer by the name of its type. Collective on comm.
  subroutine tenon_layer_create_type_mpi(comm, name, layer, ierr)
    integer(c_int), intent(in) :: comm
    character(len=*), intent(in) :: name
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerCreateType(comm, trim(name)//c_null_char, layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_type_mpi
  subroutine tenon_layer_create_conv_int64_f08(comm, in_channels, out_channels, kernel, layer, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int64_t), intent(in) :: in_channels
    integer(c_int64_t), intent(in) :: out_channels
    integer(c_int64_t), intent(in) :: kernel(:)
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_conv_int64_mpi(comm%MPI_VAL, in_channels, out_channels, kernel, layer, ierr)
  end subroutine tenon_layer_create_conv_int64_f08
  ! Creates a convolution (as cross-correlation). Collective on comm.
  subroutine tenon_layer_create_conv_int64_mpi(comm, in_channels, out_channels, kernel, layer, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int64_t), intent(in) :: in_channels
    integer(c_int64_t), intent(in) :: out_channels
    integer(c_int64_t), intent(in) :: kernel(:)
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_spatial
    c_spatial = size(kernel)
    tenon_code = TenonLayerCreateConv(comm, c_spatial, int(in_channels, c_int64_t), &
      int(out_channels, c_int64_t), int(reverse(kernel), c_int64_t), layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_conv_int64_mpi
  subroutine tenon_layer_create_conv_int32_f08(comm, in_channels, out_channels, kernel, layer, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int32_t), intent(in) :: in_channels
    integer(c_int32_t), intent(in) :: out_channels
    integer(c_int32_t), intent(in) :: kernel(:)
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_conv_int32_mpi(comm%MPI_VAL, in_channels, out_channels, kernel, layer, ierr)
  end subroutine tenon_layer_create_conv_int32_f08
  ! Creates a convolution (as cross-correlation). Collective on comm.
  subroutine tenon_layer_create_conv_int32_mpi(comm, in_channels, out_channels, kernel, layer, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int32_t), intent(in) :: in_channels
    integer(c_int32_t), intent(in) :: out_channels
    integer(c_int32_t), intent(in) :: kernel(:)
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_spatial
    c_spatial = size(kernel)
    tenon_code = TenonLayerCreateConv(comm, c_spatial, int(in_channels, c_int64_t), &
      int(out_channels, c_int64_t), int(reverse(kernel), c_int64_t), layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_conv_int32_mpi
  subroutine tenon_layer_create_affine_int64_f08(comm, inputs, outputs, layer, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int64_t), intent(in) :: inputs
    integer(c_int64_t), intent(in) :: outputs
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_affine_int64_mpi(comm%MPI_VAL, inputs, outputs, layer, ierr)
  end subroutine tenon_layer_create_affine_int64_f08
  ! Creates an affine (fully connected) layer: y = x W^T + b. Collective on comm.
  subroutine tenon_layer_create_affine_int64_mpi(comm, inputs, outputs, layer, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int64_t), intent(in) :: inputs
    integer(c_int64_t), intent(in) :: outputs
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerCreateAffine(comm, int(inputs, c_int64_t), int(outputs, c_int64_t), layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_affine_int64_mpi
  subroutine tenon_layer_create_affine_int32_f08(comm, inputs, outputs, layer, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int32_t), intent(in) :: inputs
    integer(c_int32_t), intent(in) :: outputs
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_affine_int32_mpi(comm%MPI_VAL, inputs, outputs, layer, ierr)
  end subroutine tenon_layer_create_affine_int32_f08
  ! Creates an affine (fully connected) layer: y = x W^T + b. Collective on comm.
  subroutine tenon_layer_create_affine_int32_mpi(comm, inputs, outputs, layer, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int32_t), intent(in) :: inputs
    integer(c_int32_t), intent(in) :: outputs
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerCreateAffine(comm, int(inputs, c_int64_t), int(outputs, c_int64_t), layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_affine_int32_mpi
  subroutine tenon_layer_create_column_mlp_int64_f08(comm, widths, layer, activation, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int64_t), intent(in) :: widths(:)
    type(tenon_layer), intent(out) :: layer
    character(len=*), intent(in), optional :: activation
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_column_mlp_int64_mpi(comm%MPI_VAL, widths, layer, activation, ierr)
  end subroutine tenon_layer_create_column_mlp_int64_f08
  ! Creates a multilayer perceptron of the channels at each point. Collective on comm.
  subroutine tenon_layer_create_column_mlp_int64_mpi(comm, widths, layer, activation, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int64_t), intent(in) :: widths(:)
    type(tenon_layer), intent(out) :: layer
    character(len=*), intent(in), optional :: activation
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    character(len=:), allocatable :: c_activation
    c_count = size(widths)
    if (present(activation)) c_activation = trim(activation)//c_null_char
    tenon_code = TenonLayerCreateColumnMLP(comm, c_count, int(widths, c_int64_t), c_activation, layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_column_mlp_int64_mpi
  subroutine tenon_layer_create_column_mlp_int32_f08(comm, widths, layer, activation, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int32_t), intent(in) :: widths(:)
    type(tenon_layer), intent(out) :: layer
    character(len=*), intent(in), optional :: activation
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_column_mlp_int32_mpi(comm%MPI_VAL, widths, layer, activation, ierr)
  end subroutine tenon_layer_create_column_mlp_int32_f08
  ! Creates a multilayer perceptron of the channels at each point. Collective on comm.
  subroutine tenon_layer_create_column_mlp_int32_mpi(comm, widths, layer, activation, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int32_t), intent(in) :: widths(:)
    type(tenon_layer), intent(out) :: layer
    character(len=*), intent(in), optional :: activation
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    character(len=:), allocatable :: c_activation
    c_count = size(widths)
    if (present(activation)) c_activation = trim(activation)//c_null_char
    tenon_code = TenonLayerCreateColumnMLP(comm, c_count, int(widths, c_int64_t), c_activation, layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_column_mlp_int32_mpi
  subroutine tenon_layer_create_collocate_f08(comm, faces, layer, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(in) :: faces(:)
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_collocate_mpi(comm%MPI_VAL, faces, layer, ierr)
  end subroutine tenon_layer_create_collocate_f08
  ! Creates a layer of means from the faces of a staggered grid to its cells. Collective on comm.
  subroutine tenon_layer_create_collocate_mpi(comm, faces, layer, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(in) :: faces(:)
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_spatial
    c_spatial = size(faces)
    tenon_code = TenonLayerCreateCollocate(comm, c_spatial, reverse(faces), layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_collocate_mpi
  subroutine tenon_layer_create_stagger_f08(comm, faces, layer, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(in) :: faces(:)
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    call tenon_layer_create_stagger_mpi(comm%MPI_VAL, faces, layer, ierr)
  end subroutine tenon_layer_create_stagger_f08
  ! Creates a layer of means from the cells of a staggered grid to its faces. Collective on comm.
  subroutine tenon_layer_create_stagger_mpi(comm, faces, layer, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(in) :: faces(:)
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_spatial
    c_spatial = size(faces)
    tenon_code = TenonLayerCreateStagger(comm, c_spatial, reverse(faces), layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_create_stagger_mpi
  ! Returns the number of spatial dimensions, the length of lists such as a stride. Not collective.
  subroutine tenon_layer_get_spatial_dimensions(layer, spatial, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(out) :: spatial
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_spatial
    tenon_code = TenonLayerGetSpatialDimensions(layer%handle, c_spatial)
    if (tenon_code == TENON_SUCCESS) then
      spatial = c_spatial
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_spatial_dimensions
  ! Sets the stride of windows. Local; call on all ranks.
  subroutine tenon_layer_set_stride_int64(layer, stride, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int64_t), intent(in) :: stride(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    tenon_code = TENON_SUCCESS
    call spatial_dimensions(layer%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layer_set_stride', 'stride', size(stride), c_extent)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerSetStride(layer%handle, &
      int(reverse(stride), c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_stride_int64
  ! Sets the stride of windows. Local; call on all ranks.
  subroutine tenon_layer_set_stride_int32(layer, stride, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int32_t), intent(in) :: stride(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    tenon_code = TENON_SUCCESS
    call spatial_dimensions(layer%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layer_set_stride', 'stride', size(stride), c_extent)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerSetStride(layer%handle, &
      int(reverse(stride), c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_stride_int32
  ! Sets the padding. Local; call on all ranks.
  subroutine tenon_layer_set_padding_int64(layer, low, high, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int64_t), intent(in) :: low(:)
    integer(c_int64_t), intent(in), optional :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_high(:)
    tenon_code = TENON_SUCCESS
    call spatial_dimensions(layer%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layer_set_padding', 'low', size(low), c_extent)
    if (present(high)) call check_length(tenon_code, 'tenon_layer_set_padding', 'high', size(high), c_extent)
    if (present(high)) c_high = int(reverse(high), c_int64_t)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerSetPadding(layer%handle, &
      int(reverse(low), c_int64_t), c_high)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_padding_int64
  ! Sets the padding. Local; call on all ranks.
  subroutine tenon_layer_set_padding_int32(layer, low, high, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int32_t), intent(in) :: low(:)
    integer(c_int32_t), intent(in), optional :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_high(:)
    tenon_code = TENON_SUCCESS
    call spatial_dimensions(layer%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layer_set_padding', 'low', size(low), c_extent)
    if (present(high)) call check_length(tenon_code, 'tenon_layer_set_padding', 'high', size(high), c_extent)
    if (present(high)) c_high = int(reverse(high), c_int64_t)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerSetPadding(layer%handle, &
      int(reverse(low), c_int64_t), c_high)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_padding_int32
  ! Sets the boundary modes, which give the padding its values. Local; call on all ranks.
  subroutine tenon_layer_set_boundary(layer, low, high, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int), intent(in) :: low(:)
    integer(c_int), intent(in), optional :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int), allocatable :: c_high(:)
    tenon_code = TENON_SUCCESS
    call spatial_dimensions(layer%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layer_set_boundary', 'low', size(low), c_extent)
    if (present(high)) call check_length(tenon_code, 'tenon_layer_set_boundary', 'high', size(high), c_extent)
    if (present(high)) c_high = reverse(high)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerSetBoundary(layer%handle, reverse(low), c_high)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_boundary
  ! Sets the boundary modes of one channel. Local; call on all ranks.
  subroutine tenon_layer_set_channel_boundary_int64(layer, channel, low, high, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int64_t), intent(in) :: channel
    integer(c_int), intent(in) :: low(:)
    integer(c_int), intent(in), optional :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int), allocatable :: c_high(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_set_channel_boundary', 'channel', int(channel, c_int64_t))
    call spatial_dimensions(layer%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layer_set_channel_boundary', 'low', size(low), c_extent)
    if (present(high)) call check_length(tenon_code, 'tenon_layer_set_channel_boundary', 'high', size(high), &
      c_extent)
    if (present(high)) c_high = reverse(high)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerSetChannelBoundary(layer%handle, &
      int(channel - 1, c_int64_t), reverse(low), c_high)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_channel_boundary_int64
  ! Sets the boundary modes of one channel. Local; call on all ranks.
  subroutine tenon_layer_set_channel_boundary_int32(layer, channel, low, high, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int32_t), intent(in) :: channel
    integer(c_int), intent(in) :: low(:)
    integer(c_int), intent(in), optional :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int), allocatable :: c_high(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_layer_set_channel_boundary', 'channel', int(channel, c_int64_t))
    call spatial_dimensions(layer%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layer_set_channel_boundary', 'low', size(low), c_extent)
    if (present(high)) call check_length(tenon_code, 'tenon_layer_set_channel_boundary', 'high', size(high), &
      c_extent)
    if (present(high)) c_high = reverse(high)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayerSetChannelBoundary(layer%handle, &
      int(channel - 1, c_int64_t), reverse(low), c_high)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_channel_boundary_int32
  ! Sets the layout of the output of a repartition, add or concatenate layer. Local; call on all ranks.
  subroutine tenon_layer_set_output_layout(layer, output, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_layout), intent(in) :: output
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetOutputLayout(layer%handle, output%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_output_layout
  ! Returns the names of all types of the library but "shell". Not collective.
  subroutine tenon_layer_get_types(types, ierr)
    character(len=:), allocatable, intent(out) :: types
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_types(:)
    tenon_code = TenonLayerGetTypes(c_types, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_types(c_needed))
      tenon_code = TenonLayerGetTypes(c_types, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_types, tenon_code, types)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_types
  ! Returns the index labels of a layer, of which a signature has one for each grid axis. Not collective.
  subroutine tenon_layer_get_labels_int64(layer, shape, labels, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int64_t), intent(in) :: shape(:)
    character(len=:), allocatable, intent(out) :: labels
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_labels(:)
    c_ndim = size(shape)
    tenon_code = TenonLayerGetLabels(layer%handle, c_ndim, int(reverse(shape), c_int64_t), c_labels, &
      0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_labels(c_needed))
      tenon_code = TenonLayerGetLabels(layer%handle, c_ndim, int(reverse(shape), c_int64_t), c_labels, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_labels, tenon_code, labels)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_labels_int64
  ! Returns the index labels of a layer, of which a signature has one for each grid axis. Not collective.
  subroutine tenon_layer_get_labels_int32(layer, shape, labels, ierr)
    type(tenon_layer), intent(in) :: layer
    integer(c_int32_t), intent(in) :: shape(:)
    character(len=:), allocatable, intent(out) :: labels
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_labels(:)
    c_ndim = size(shape)
    tenon_code = TenonLayerGetLabels(layer%handle, c_ndim, int(reverse(shape), c_int64_t), c_labels, &
      0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_labels(c_needed))
      tenon_code = TenonLayerGetLabels(layer%handle, c_ndim, int(reverse(shape), c_int64_t), c_labels, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_labels, tenon_code, labels)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_labels_int32
  ! Returns the signature table of a type of layers: which properties of the parameters and of the output
  ! follow from which properties of the inputs along a grid axis. Not collective.
  subroutine tenon_layer_get_type_signatures(type, ndim, signatures, ierr)
    character(len=*), intent(in) :: type
    integer(c_int), intent(in) :: ndim
    character(len=:), allocatable, intent(out) :: signatures
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_signatures(:)
    tenon_code = TenonLayerGetTypeSignatures(trim(type)//c_null_char, ndim, c_signatures, 0_c_int64_t, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_signatures(c_needed))
      tenon_code = TenonLayerGetTypeSignatures(trim(type)//c_null_char, ndim, c_signatures, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_signatures, tenon_code, signatures)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_get_type_signatures
  ! Creates a layout in one call. Collective on the partition.
  subroutine tenon_layout_create_sharded_int64(partition, shape, properties, layout, ierr)
    type(tenon_partition), intent(in) :: partition
    integer(c_int64_t), intent(in) :: shape(:)
    character(len=*), intent(in) :: properties
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    c_ndim = size(shape)
    tenon_code = TenonLayoutCreateSharded(partition%handle, c_ndim, int(reverse(shape), c_int64_t), &
      trim(properties)//c_null_char, layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_create_sharded_int64
  ! Creates a layout in one call. Collective on the partition.
  subroutine tenon_layout_create_sharded_int32(partition, shape, properties, layout, ierr)
    type(tenon_partition), intent(in) :: partition
    integer(c_int32_t), intent(in) :: shape(:)
    character(len=*), intent(in) :: properties
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    c_ndim = size(shape)
    tenon_code = TenonLayoutCreateSharded(partition%handle, c_ndim, int(reverse(shape), c_int64_t), &
      trim(properties)//c_null_char, layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_create_sharded_int32
  subroutine tenon_layout_create_from_boxes_int64_f08(comm, low, high, layout, shape, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int64_t), intent(in) :: low(:)
    integer(c_int64_t), intent(in) :: high(:)
    type(tenon_layout), intent(out) :: layout
    integer(c_int64_t), intent(in), optional :: shape(:)
    integer(c_int), intent(out), optional :: ierr
    call tenon_layout_create_from_boxes_int64_mpi(comm%MPI_VAL, low, high, layout, shape, ierr)
  end subroutine tenon_layout_create_from_boxes_int64_f08
  ! Creates a layout from the boxes of a user's decomposition. Collective on comm.
  subroutine tenon_layout_create_from_boxes_int64_mpi(comm, low, high, layout, shape, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int64_t), intent(in) :: low(:)
    integer(c_int64_t), intent(in) :: high(:)
    type(tenon_layout), intent(out) :: layout
    integer(c_int64_t), intent(in), optional :: shape(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    integer(c_int64_t), allocatable :: c_shape(:)
    tenon_code = TENON_SUCCESS
    c_ndim = size(low)
    call check_length(tenon_code, 'tenon_layout_create_from_boxes', 'high', size(high), c_ndim)
    if (present(shape)) call check_length(tenon_code, 'tenon_layout_create_from_boxes', 'shape', size(shape), &
      c_ndim)
    if (present(shape)) c_shape = int(reverse(shape), c_int64_t)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutCreateFromBoxes(comm, c_ndim, c_shape, &
      int(reverse(low), c_int64_t) - 1, int(reverse(high), c_int64_t), layout%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_layout_create_from_boxes', 'low', int(low, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_create_from_boxes_int64_mpi
  subroutine tenon_layout_create_from_boxes_int32_f08(comm, low, high, layout, shape, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int32_t), intent(in) :: low(:)
    integer(c_int32_t), intent(in) :: high(:)
    type(tenon_layout), intent(out) :: layout
    integer(c_int32_t), intent(in), optional :: shape(:)
    integer(c_int), intent(out), optional :: ierr
    call tenon_layout_create_from_boxes_int32_mpi(comm%MPI_VAL, low, high, layout, shape, ierr)
  end subroutine tenon_layout_create_from_boxes_int32_f08
  ! Creates a layout from the boxes of a user's decomposition. Collective on comm.
  subroutine tenon_layout_create_from_boxes_int32_mpi(comm, low, high, layout, shape, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int32_t), intent(in) :: low(:)
    integer(c_int32_t), intent(in) :: high(:)
    type(tenon_layout), intent(out) :: layout
    integer(c_int32_t), intent(in), optional :: shape(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    integer(c_int64_t), allocatable :: c_shape(:)
    tenon_code = TENON_SUCCESS
    c_ndim = size(low)
    call check_length(tenon_code, 'tenon_layout_create_from_boxes', 'high', size(high), c_ndim)
    if (present(shape)) call check_length(tenon_code, 'tenon_layout_create_from_boxes', 'shape', size(shape), &
      c_ndim)
    if (present(shape)) c_shape = int(reverse(shape), c_int64_t)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutCreateFromBoxes(comm, c_ndim, c_shape, &
      int(reverse(low), c_int64_t) - 1, int(reverse(high), c_int64_t), layout%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_layout_create_from_boxes', 'low', int(low, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_create_from_boxes_int32_mpi
  ! Creates the layout of a field on a staggered grid from that of the cells. Collective on cells.
  subroutine tenon_layout_create_staggered_int64(cells, faces, layout, ierr)
    type(tenon_layout), intent(in) :: cells
    integer(c_int64_t), intent(in) :: faces(:)
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    tenon_code = TENON_SUCCESS
    call layout_dimensions(cells%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layout_create_staggered', 'faces', size(faces), c_extent)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutCreateStaggered(cells%handle, &
      int(reverse(faces), c_int64_t), layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_create_staggered_int64
  ! Creates the layout of a field on a staggered grid from that of the cells. Collective on cells.
  subroutine tenon_layout_create_staggered_int32(cells, faces, layout, ierr)
    type(tenon_layout), intent(in) :: cells
    integer(c_int32_t), intent(in) :: faces(:)
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    tenon_code = TENON_SUCCESS
    call layout_dimensions(cells%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layout_create_staggered', 'faces', size(faces), c_extent)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutCreateStaggered(cells%handle, &
      int(reverse(faces), c_int64_t), layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_create_staggered_int32
  ! Creates a layout to be completed by setters. Collective on the partition.
  subroutine tenon_layout_create(partition, layout, ierr)
    type(tenon_partition), intent(in) :: partition
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayoutCreate(partition%handle, layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_create
  ! Creates an editable copy of a layout. Collective on the model.
  subroutine tenon_layout_create_like(model, layout, ierr)
    type(tenon_layout), intent(in) :: model
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayoutCreateLike(model%handle, layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_create_like
  ! Sets the global extents. Local; call on all ranks.
  subroutine tenon_layout_set_shape_int64(layout, shape, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int64_t), intent(in) :: shape(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    c_ndim = size(shape)
    tenon_code = TenonLayoutSetShape(layout%handle, c_ndim, int(reverse(shape), c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_set_shape_int64
  ! Sets the global extents. Local; call on all ranks.
  subroutine tenon_layout_set_shape_int32(layout, shape, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int32_t), intent(in) :: shape(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    c_ndim = size(shape)
    tenon_code = TenonLayoutSetShape(layout%handle, c_ndim, int(reverse(shape), c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_set_shape_int32
  ! Sets the property of each grid axis. Local; call on all ranks.
  subroutine tenon_layout_set_properties(layout, properties, ierr)
    type(tenon_layout), intent(in) :: layout
    character(len=*), intent(in) :: properties
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayoutSetProperties(layout%handle, trim(properties)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_set_properties
  ! Sets the order of the axes that split a dimension. Local; call on all ranks.
  subroutine tenon_layout_set_split_order(layout, dim, axes, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: dim
    integer(c_int), intent(in) :: axes(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    integer(c_int) :: c_count
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    c_count = size(axes)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutSetSplitOrder(layout%handle, c_dim, c_count, &
      axes)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_set_split_order
  ! Sets the split points of a dimension. Local; call on all ranks.
  subroutine tenon_layout_set_cuts_int64(layout, dim, cuts, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: dim
    integer(c_int64_t), intent(in) :: cuts(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    integer(c_int) :: c_count
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    c_count = size(cuts)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutSetCuts(layout%handle, c_dim, c_count, &
      int(cuts, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_set_cuts_int64
  ! Sets the split points of a dimension. Local; call on all ranks.
  subroutine tenon_layout_set_cuts_int32(layout, dim, cuts, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: dim
    integer(c_int32_t), intent(in) :: cuts(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    integer(c_int) :: c_count
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    c_count = size(cuts)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutSetCuts(layout%handle, c_dim, c_count, &
      int(cuts, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_set_cuts_int32
  ! Sets a halo of uniform width in one dimension. Local; call on all ranks.
  subroutine tenon_layout_set_halo_int64(layout, dim, low, high, low_mode, high_mode, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: dim
    integer(c_int64_t), intent(in) :: low
    integer(c_int64_t), intent(in) :: high
    integer(c_int), intent(in) :: low_mode
    integer(c_int), intent(in) :: high_mode
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutSetHalo(layout%handle, c_dim, &
      int(low, c_int64_t), int(high, c_int64_t), low_mode, high_mode)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_set_halo_int64
  ! Sets a halo of uniform width in one dimension. Local; call on all ranks.
  subroutine tenon_layout_set_halo_int32(layout, dim, low, high, low_mode, high_mode, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: dim
    integer(c_int32_t), intent(in) :: low
    integer(c_int32_t), intent(in) :: high
    integer(c_int), intent(in) :: low_mode
    integer(c_int), intent(in) :: high_mode
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutSetHalo(layout%handle, c_dim, &
      int(low, c_int64_t), int(high, c_int64_t), low_mode, high_mode)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_set_halo_int32
  ! Sets the halo of a dimension by the range of each block. Local; call on all ranks.
  subroutine tenon_layout_set_halo_boxes_int64(layout, dim, low, high, low_mode, high_mode, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: dim
    integer(c_int64_t), intent(in) :: low(:)
    integer(c_int64_t), intent(in) :: high(:)
    integer(c_int), intent(in) :: low_mode
    integer(c_int), intent(in) :: high_mode
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    integer(c_int) :: c_count
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    c_count = size(low)
    call check_length(tenon_code, 'tenon_layout_set_halo_boxes', 'high', size(high), c_count)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutSetHaloBoxes(layout%handle, c_dim, c_count, &
      int(low, c_int64_t) - 1, int(high, c_int64_t), low_mode, high_mode)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_set_halo_boxes_int64
  ! Sets the halo of a dimension by the range of each block. Local; call on all ranks.
  subroutine tenon_layout_set_halo_boxes_int32(layout, dim, low, high, low_mode, high_mode, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: dim
    integer(c_int32_t), intent(in) :: low(:)
    integer(c_int32_t), intent(in) :: high(:)
    integer(c_int), intent(in) :: low_mode
    integer(c_int), intent(in) :: high_mode
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    integer(c_int) :: c_count
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    c_count = size(low)
    call check_length(tenon_code, 'tenon_layout_set_halo_boxes', 'high', size(high), c_count)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutSetHaloBoxes(layout%handle, c_dim, c_count, &
      int(low, c_int64_t) - 1, int(high, c_int64_t), low_mode, high_mode)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_set_halo_boxes_int32
  ! Sets whether the halo of a dimension holds partial sums. Local; call on all ranks.
  subroutine tenon_layout_set_halo_partial(layout, dim, partial, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: dim
    logical, intent(in) :: partial
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutSetHaloPartial(layout%handle, c_dim, &
      c_bool_of(partial))
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_set_halo_partial
  ! Completes the layout. Collective on the partition.
  subroutine tenon_layout_set_up(layout, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayoutSetUp(layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_set_up
  ! Returns the dual layout, that of the cotangents. Not collective.
  subroutine tenon_layout_get_dual(layout, dual, ierr)
    type(tenon_layout), intent(in) :: layout
    type(tenon_layout), intent(out) :: dual
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayoutGetDual(layout%handle, dual%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_get_dual
  ! Returns the process grid. Not collective.
  subroutine tenon_layout_get_partition(layout, partition, ierr)
    type(tenon_layout), intent(in) :: layout
    type(tenon_partition), intent(out) :: partition
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayoutGetPartition(layout%handle, partition%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_get_partition
  ! Returns the number of tensor dimensions. Not collective.
  subroutine tenon_layout_get_dim(layout, ndim, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(out) :: ndim
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    tenon_code = TenonLayoutGetDim(layout%handle, c_ndim)
    if (tenon_code == TENON_SUCCESS) then
      ndim = c_ndim
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_get_dim
  ! Returns the global extents. Not collective.
  subroutine tenon_layout_get_shape_int64(layout, shape, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int64_t), intent(out) :: shape(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_shape(:)
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layout_get_shape', 'shape', size(shape), c_extent)
    allocate (c_shape(size(shape)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutGetShape(layout%handle, c_shape)
    if (tenon_code == TENON_SUCCESS) then
      call give(reverse(c_shape), shape, 'shape', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_get_shape_int64
  ! Returns the global extents. Not collective.
  subroutine tenon_layout_get_shape_int32(layout, shape, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int32_t), intent(out) :: shape(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_shape(:)
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layout_get_shape', 'shape', size(shape), c_extent)
    allocate (c_shape(size(shape)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutGetShape(layout%handle, c_shape)
    if (tenon_code == TENON_SUCCESS) then
      call give(reverse(c_shape), shape, 'shape', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_get_shape_int32
  ! Returns the properties as text. Not collective.
  subroutine tenon_layout_get_properties(layout, properties, ierr)
    type(tenon_layout), intent(in) :: layout
    character(len=:), allocatable, intent(out) :: properties
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_properties(:)
    tenon_code = TenonLayoutGetProperties(layout%handle, c_properties, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_properties(c_needed))
      tenon_code = TenonLayoutGetProperties(layout%handle, c_properties, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_properties, tenon_code, properties)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_get_properties
  ! Returns the box of this rank, halo included. Not collective.
  subroutine tenon_layout_get_box_int64(layout, low, high, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int64_t), intent(out) :: low(:)
    integer(c_int64_t), intent(out) :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_low(:)
    integer(c_int64_t), allocatable :: c_high(:)
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layout_get_box', 'low', size(low), c_extent)
    allocate (c_low(size(low)))
    call check_length(tenon_code, 'tenon_layout_get_box', 'high', size(high), c_extent)
    allocate (c_high(size(high)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutGetBox(layout%handle, c_low, c_high)
    if (tenon_code == TENON_SUCCESS) then
      call give(reverse(c_low) + 1, low, 'low', tenon_code)
      call give(reverse(c_high), high, 'high', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_get_box_int64
  ! Returns the box of this rank, halo included. Not collective.
  subroutine tenon_layout_get_box_int32(layout, low, high, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int32_t), intent(out) :: low(:)
    integer(c_int32_t), intent(out) :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_low(:)
    integer(c_int64_t), allocatable :: c_high(:)
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layout_get_box', 'low', size(low), c_extent)
    allocate (c_low(size(low)))
    call check_length(tenon_code, 'tenon_layout_get_box', 'high', size(high), c_extent)
    allocate (c_high(size(high)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutGetBox(layout%handle, c_low, c_high)
    if (tenon_code == TENON_SUCCESS) then
      call give(reverse(c_low) + 1, low, 'low', tenon_code)
      call give(reverse(c_high), high, 'high', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_get_box_int32
  ! Returns the local block of this rank, without the halo. Not collective.
  subroutine tenon_layout_get_owned_box_int64(layout, low, high, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int64_t), intent(out) :: low(:)
    integer(c_int64_t), intent(out) :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_low(:)
    integer(c_int64_t), allocatable :: c_high(:)
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layout_get_owned_box', 'low', size(low), c_extent)
    allocate (c_low(size(low)))
    call check_length(tenon_code, 'tenon_layout_get_owned_box', 'high', size(high), c_extent)
    allocate (c_high(size(high)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutGetOwnedBox(layout%handle, c_low, c_high)
    if (tenon_code == TENON_SUCCESS) then
      call give(reverse(c_low) + 1, low, 'low', tenon_code)
      call give(reverse(c_high), high, 'high', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_get_owned_box_int64
  ! Returns the local block of this rank, without the halo. Not collective.
  subroutine tenon_layout_get_owned_box_int32(layout, low, high, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int32_t), intent(out) :: low(:)
    integer(c_int32_t), intent(out) :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_low(:)
    integer(c_int64_t), allocatable :: c_high(:)
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_layout_get_owned_box', 'low', size(low), c_extent)
    allocate (c_low(size(low)))
    call check_length(tenon_code, 'tenon_layout_get_owned_box', 'high', size(high), c_extent)
    allocate (c_high(size(high)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutGetOwnedBox(layout%handle, c_low, c_high)
    if (tenon_code == TENON_SUCCESS) then
      call give(reverse(c_low) + 1, low, 'low', tenon_code)
      call give(reverse(c_high), high, 'high', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_get_owned_box_int32
  ! Returns whether this rank takes part in the layout. Not collective.
  subroutine tenon_layout_is_active(layout, active, ierr)
    type(tenon_layout), intent(in) :: layout
    logical, intent(out) :: active
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_active
    tenon_code = TenonLayoutIsActive(layout%handle, c_active)
    if (tenon_code == TENON_SUCCESS) then
      active = c_active /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_is_active
  ! Returns whether two layouts are equal and on the same communicator. Not collective. Equal layouts give
  ! every rank the same block and the same halos. What they say of an axis of one process does not count, nor
  ! whether the process grid has such an axis.
  subroutine tenon_layout_is_equal(layout, other, equal, ierr)
    type(tenon_layout), intent(in) :: layout
    type(tenon_layout), intent(in) :: other
    logical, intent(out) :: equal
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_equal
    tenon_code = TenonLayoutIsEqual(layout%handle, other%handle, c_equal)
    if (tenon_code == TENON_SUCCESS) then
      equal = c_equal /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_is_equal
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_layout_destroy(layout, ierr)
    type(tenon_layout), intent(inout) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayoutDestroy(layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layout_destroy
  ! Applies the operator: y <- F x. Collective on the operator.
  subroutine tenon_linearop_apply(op, x, y, ierr)
    type(tenon_linearop), intent(in) :: op
    type(tenon_dtensor), intent(in) :: x
    type(tenon_dtensor), intent(in) :: y
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpApply(op%handle, x%handle, y%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_apply
  ! Applies the adjoint: x <- F* y. Collective on the operator.
  subroutine tenon_linearop_apply_adjoint(op, y, x, ierr)
    type(tenon_linearop), intent(in) :: op
    type(tenon_dtensor), intent(in) :: y
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpApplyAdjoint(op%handle, y%handle, x%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_apply_adjoint
  ! Applies with factors: y <- alpha F x + beta y. Collective on the operator.
  subroutine tenon_linearop_apply_add(op, alpha, x, beta, y, ierr)
    type(tenon_linearop), intent(in) :: op
    real(c_double), intent(in) :: alpha
    type(tenon_dtensor), intent(in) :: x
    real(c_double), intent(in) :: beta
    type(tenon_dtensor), intent(in) :: y
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpApplyAdd(op%handle, alpha, x%handle, beta, y%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_apply_add
  ! Starts y <- alpha F x + beta y. Collective on the operator.
  subroutine tenon_linearop_apply_begin(op, alpha, x, beta, y, ierr)
    type(tenon_linearop), intent(in) :: op
    real(c_double), intent(in) :: alpha
    type(tenon_dtensor), intent(in) :: x
    real(c_double), intent(in) :: beta
    type(tenon_dtensor), intent(in) :: y
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpApplyBegin(op%handle, alpha, x%handle, beta, y%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_apply_begin
  ! Completes TenonLinearOpApplyBegin(). Collective on the operator.
  subroutine tenon_linearop_apply_end(op, ierr)
    type(tenon_linearop), intent(in) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpApplyEnd(op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_apply_end
  ! Binds x and y for y <- F x. Not collective.
  subroutine tenon_linearop_bind(op, x, y, ierr)
    type(tenon_linearop), intent(in) :: op
    type(tenon_dtensor), intent(in) :: x
    type(tenon_dtensor), intent(in) :: y
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpBind(op%handle, x%handle, y%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_bind
  ! Removes the binding, and that of the adjoint, if there are any. Not collective.
  subroutine tenon_linearop_unbind(op, ierr)
    type(tenon_linearop), intent(in) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpUnbind(op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_unbind
  ! Returns the layout of the domain. Not collective.
  subroutine tenon_linearop_get_domain(op, layout, ierr)
    type(tenon_linearop), intent(in) :: op
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpGetDomain(op%handle, layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_get_domain
  ! Returns the layout of the range. Not collective.
  subroutine tenon_linearop_get_range(op, layout, ierr)
    type(tenon_linearop), intent(in) :: op
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpGetRange(op%handle, layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_get_range
  ! Returns the element types. Not collective.
  subroutine tenon_linearop_get_data_types(op, domain, range, ierr)
    type(tenon_linearop), intent(in) :: op
    integer(c_int), intent(out), optional :: domain
    integer(c_int), intent(out), optional :: range
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_domain
    integer(c_int) :: c_range
    tenon_code = TenonLinearOpGetDataTypes(op%handle, c_domain, c_range)
    if (tenon_code == TENON_SUCCESS) then
      if (present(domain)) domain = c_domain
      if (present(range)) range = c_range
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_get_data_types
  ! Returns what this rank sends in one application of a conversion. Not collective.
  subroutine tenon_linearop_get_traffic_int64(op, messages, bytes, ierr)
    type(tenon_linearop), intent(in) :: op
    integer(c_int64_t), intent(out) :: messages
    integer(c_int64_t), intent(out) :: bytes
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_messages
    integer(c_int64_t) :: c_bytes
    tenon_code = TenonLinearOpGetTraffic(op%handle, c_messages, c_bytes)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_messages, messages, 'messages', tenon_code)
      call give(c_bytes, bytes, 'bytes', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_get_traffic_int64
  ! Returns what this rank sends in one application of a conversion. Not collective.
  subroutine tenon_linearop_get_traffic_int32(op, messages, bytes, ierr)
    type(tenon_linearop), intent(in) :: op
    integer(c_int32_t), intent(out) :: messages
    integer(c_int32_t), intent(out) :: bytes
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_messages
    integer(c_int64_t) :: c_bytes
    tenon_code = TenonLinearOpGetTraffic(op%handle, c_messages, c_bytes)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_messages, messages, 'messages', tenon_code)
      call give(c_bytes, bytes, 'bytes', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_get_traffic_int32
  ! Tests the adjoint identity on random memory. Collective on the operator.
  subroutine tenon_linearop_test_adjoint_int64(op, seed, integers, forward, adjoint, relative, ierr)
    type(tenon_linearop), intent(in) :: op
    integer(c_int64_t), intent(in) :: seed
    logical, intent(in) :: integers
    real(c_double), intent(out), optional :: forward
    real(c_double), intent(out), optional :: adjoint
    real(c_double), intent(out), optional :: relative
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_forward
    real(c_double) :: c_adjoint
    real(c_double) :: c_relative
    tenon_code = TenonLinearOpTestAdjoint(op%handle, int(seed, c_int64_t), c_bool_of(integers), c_forward, &
      c_adjoint, c_relative)
    if (tenon_code == TENON_SUCCESS) then
      if (present(forward)) forward = c_forward
      if (present(adjoint)) adjoint = c_adjoint
      if (present(relative)) relative = c_relative
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_test_adjoint_int64
  ! Tests the adjoint identity on random memory. Collective on the operator.
  subroutine tenon_linearop_test_adjoint_int32(op, seed, integers, forward, adjoint, relative, ierr)
    type(tenon_linearop), intent(in) :: op
    integer(c_int32_t), intent(in) :: seed
    logical, intent(in) :: integers
    real(c_double), intent(out), optional :: forward
    real(c_double), intent(out), optional :: adjoint
    real(c_double), intent(out), optional :: relative
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_forward
    real(c_double) :: c_adjoint
    real(c_double) :: c_relative
    tenon_code = TenonLinearOpTestAdjoint(op%handle, int(seed, c_int64_t), c_bool_of(integers), c_forward, &
      c_adjoint, c_relative)
    if (tenon_code == TENON_SUCCESS) then
      if (present(forward)) forward = c_forward
      if (present(adjoint)) adjoint = c_adjoint
      if (present(relative)) relative = c_relative
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_test_adjoint_int32
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_linearop_destroy(op, ierr)
    type(tenon_linearop), intent(inout) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpDestroy(op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_destroy
  ! Creates the conversion between two layouts. Collective on the layouts.
  subroutine tenon_linearop_create_conversion(from, to, type, op, ierr)
    type(tenon_layout), intent(in) :: from
    type(tenon_layout), intent(in) :: to
    integer(c_int), intent(in) :: type
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpCreateConversion(from%handle, to%handle, type, op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_conversion
  ! Creates a halo exchange, the conversion that fills halos. Collective on the layouts.
  subroutine tenon_linearop_create_halo(from, to, type, op, ierr)
    type(tenon_layout), intent(in) :: from
    type(tenon_layout), intent(in) :: to
    integer(c_int), intent(in) :: type
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpCreateHalo(from%handle, to%handle, type, op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_halo
  ! Creates the mask of user-supplied boundary values: y <- M v. Collective on the layout.
  subroutine tenon_linearop_create_boundary_values(layout, type, op, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: type
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpCreateBoundaryValues(layout%handle, type, op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_boundary_values
  ! Creates the map from one number to all boundary values. Collective on the layout.
  subroutine tenon_linearop_create_boundary_constant(layout, type, op, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: type
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpCreateBoundaryConstant(layout%handle, type, op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_boundary_constant
  ! Creates a communication primitive by its name. Collective on the layout.
  subroutine tenon_linearop_create_primitive(layout, name, axis, dim, type, op, ierr)
    type(tenon_layout), intent(in) :: layout
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: axis
    integer(c_int), intent(in) :: dim
    integer(c_int), intent(in) :: type
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_dim
    integer(c_int) :: c_extent
    tenon_code = TENON_SUCCESS
    call layout_dimensions(layout%handle, tenon_code, c_extent)
    c_dim = c_dimension(dim, c_extent)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLinearOpCreatePrimitive(layout%handle, &
      trim(name)//c_null_char, axis, c_dim, type, op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_primitive
  ! Creates a transfer of a tensor to another process. Collective on the layout.
  subroutine tenon_linearop_create_send_receive(layout, rank, type, op, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: rank
    integer(c_int), intent(in) :: type
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpCreateSendReceive(layout%handle, rank, type, op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_send_receive
  ! Creates a cast to another floating-point type: y <- x. Collective on the layout.
  subroutine tenon_linearop_create_cast(layout, from, to, op, ierr)
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(in) :: from
    integer(c_int), intent(in) :: to
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpCreateCast(layout%handle, from, to, op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_cast
  ! Creates a product: ops[count-1] ... ops[1] ops[0]. Collective on the operators.
  subroutine tenon_linearop_create_composition(ops, op, ierr)
    type(tenon_linearop), intent(in) :: ops(:)
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    c_count = size(ops)
    tenon_code = TenonLinearOpCreateComposition(c_count, ops%handle, op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_composition
  ! Creates the adjoint as an operator. Collective on the operator.
  subroutine tenon_linearop_create_adjoint(op, adjoint, ierr)
    type(tenon_linearop), intent(in) :: op
    type(tenon_linearop), intent(out) :: adjoint
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpCreateAdjoint(op%handle, adjoint%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_adjoint
  ! Creates a sum: y <- ops[0] x + ... + ops[count-1] x. Collective on the operators.
  subroutine tenon_linearop_create_sum(ops, op, ierr)
    type(tenon_linearop), intent(in) :: ops(:)
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    c_count = size(ops)
    tenon_code = TenonLinearOpCreateSum(c_count, ops%handle, op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_sum
  ! Creates a multiple: y <- factor F x. Collective on the operator.
  subroutine tenon_linearop_create_scale(factor, op, scaled, ierr)
    real(c_double), intent(in) :: factor
    type(tenon_linearop), intent(in) :: op
    type(tenon_linearop), intent(out) :: scaled
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpCreateScale(factor, op%handle, scaled%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_scale
  ! Creates an operator by the name of its type. Collective on the layouts.
  subroutine tenon_linearop_create_type(domain, range, domain_type, range_type, name, op, parameters, ierr)
    type(tenon_layout), intent(in) :: domain
    type(tenon_layout), intent(in) :: range
    integer(c_int), intent(in) :: domain_type
    integer(c_int), intent(in) :: range_type
    character(len=*), intent(in) :: name
    type(tenon_linearop), intent(out) :: op
    type(c_ptr), intent(in), optional :: parameters
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_parameters
    c_parameters = c_null_ptr
    if (present(parameters)) c_parameters = parameters
    tenon_code = TenonLinearOpCreateType(domain%handle, range%handle, domain_type, range_type, &
      trim(name)//c_null_char, c_parameters, op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_type
  ! Creates the Jacobian of a layer at a point. Collective on the layer.
  subroutine tenon_linearop_create_jacobian(layer, x, op, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: x
    type(tenon_linearop), intent(out) :: op
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpCreateJacobian(layer%handle, x%handle, op%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_create_jacobian
  ! Moves a Jacobian to another point. Collective on the operator.
  subroutine tenon_linearop_jacobian_set_point(op, x, ierr)
    type(tenon_linearop), intent(in) :: op
    type(tenon_dtensor), intent(in) :: x
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinearOpJacobianSetPoint(op%handle, x%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_linearop_jacobian_set_point
  subroutine tenon_links_create_from_tiles_int64_f08(comm, tiles, low, places, links, high, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int64_t), intent(in) :: tiles(:)
    integer(c_int), intent(in) :: low(:)
    integer(c_int64_t), intent(in) :: places(:)
    type(tenon_links), intent(out) :: links
    integer(c_int), intent(in), optional :: high(:)
    integer(c_int), intent(out), optional :: ierr
    call tenon_links_create_from_tiles_int64_mpi(comm%MPI_VAL, tiles, low, places, links, high, ierr)
  end subroutine tenon_links_create_from_tiles_int64_f08
  ! Creates the links of a box's tiles. Collective on comm.
  subroutine tenon_links_create_from_tiles_int64_mpi(comm, tiles, low, places, links, high, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int64_t), intent(in) :: tiles(:)
    integer(c_int), intent(in) :: low(:)
    integer(c_int64_t), intent(in) :: places(:)
    type(tenon_links), intent(out) :: links
    integer(c_int), intent(in), optional :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    integer(c_int), allocatable :: c_high(:)
    integer(c_int) :: c_count
    tenon_code = TENON_SUCCESS
    c_ndim = size(tiles)
    call check_length(tenon_code, 'tenon_links_create_from_tiles', 'low', size(low), c_ndim)
    if (present(high)) call check_length(tenon_code, 'tenon_links_create_from_tiles', 'high', size(high), &
      c_ndim)
    if (present(high)) c_high = reverse(high)
    c_count = size(places)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLinksCreateFromTiles(comm, c_ndim, &
      int(reverse(tiles), c_int64_t), reverse(low), c_high, int(c_count, c_int64_t), &
      int(places, c_int64_t) - 1, links%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_links_create_from_tiles', 'places', int(places, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_links_create_from_tiles_int64_mpi
  subroutine tenon_links_create_from_tiles_int32_f08(comm, tiles, low, places, links, high, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int32_t), intent(in) :: tiles(:)
    integer(c_int), intent(in) :: low(:)
    integer(c_int32_t), intent(in) :: places(:)
    type(tenon_links), intent(out) :: links
    integer(c_int), intent(in), optional :: high(:)
    integer(c_int), intent(out), optional :: ierr
    call tenon_links_create_from_tiles_int32_mpi(comm%MPI_VAL, tiles, low, places, links, high, ierr)
  end subroutine tenon_links_create_from_tiles_int32_f08
  ! Creates the links of a box's tiles. Collective on comm.
  subroutine tenon_links_create_from_tiles_int32_mpi(comm, tiles, low, places, links, high, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int32_t), intent(in) :: tiles(:)
    integer(c_int), intent(in) :: low(:)
    integer(c_int32_t), intent(in) :: places(:)
    type(tenon_links), intent(out) :: links
    integer(c_int), intent(in), optional :: high(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    integer(c_int), allocatable :: c_high(:)
    integer(c_int) :: c_count
    tenon_code = TENON_SUCCESS
    c_ndim = size(tiles)
    call check_length(tenon_code, 'tenon_links_create_from_tiles', 'low', size(low), c_ndim)
    if (present(high)) call check_length(tenon_code, 'tenon_links_create_from_tiles', 'high', size(high), &
      c_ndim)
    if (present(high)) c_high = reverse(high)
    c_count = size(places)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLinksCreateFromTiles(comm, c_ndim, &
      int(reverse(tiles), c_int64_t), reverse(low), c_high, int(c_count, c_int64_t), &
      int(places, c_int64_t) - 1, links%handle)
    if (tenon_code /= TENON_SUCCESS) then
      call explain_counted(tenon_code, 'tenon_links_create_from_tiles', 'places', int(places, c_int64_t))
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_links_create_from_tiles_int32_mpi
  subroutine tenon_links_create_from_sides_int64_f08(comm, ndim, patches, sides, links, turned, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(in) :: ndim
    integer(c_int64_t), intent(in) :: patches(:)
    integer(c_int), intent(in) :: sides(:)
    type(tenon_links), intent(out) :: links
    integer(c_int), intent(in), optional :: turned(:)
    integer(c_int), intent(out), optional :: ierr
    call tenon_links_create_from_sides_int64_mpi(comm%MPI_VAL, ndim, patches, sides, links, turned, ierr)
  end subroutine tenon_links_create_from_sides_int64_f08
  ! Creates the links of patches that meet side by side. Collective on comm.
  subroutine tenon_links_create_from_sides_int64_mpi(comm, ndim, patches, sides, links, turned, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(in) :: ndim
    integer(c_int64_t), intent(in) :: patches(:)
    integer(c_int), intent(in) :: sides(:)
    type(tenon_links), intent(out) :: links
    integer(c_int), intent(in), optional :: turned(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    integer(c_int), allocatable :: c_turned(:)
    tenon_code = TENON_SUCCESS
    c_count = size(patches)
    call check_length(tenon_code, 'tenon_links_create_from_sides', 'sides', size(sides), c_count)
    if (present(turned)) call check_length(tenon_code, 'tenon_links_create_from_sides', 'turned', &
      size(turned), c_count)
    if (present(turned)) c_turned = turned
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLinksCreateFromSides(comm, ndim, &
      int(c_count, c_int64_t), int(patches, c_int64_t), sides, c_turned, links%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_links_create_from_sides_int64_mpi
  subroutine tenon_links_create_from_sides_int32_f08(comm, ndim, patches, sides, links, turned, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(in) :: ndim
    integer(c_int32_t), intent(in) :: patches(:)
    integer(c_int), intent(in) :: sides(:)
    type(tenon_links), intent(out) :: links
    integer(c_int), intent(in), optional :: turned(:)
    integer(c_int), intent(out), optional :: ierr
    call tenon_links_create_from_sides_int32_mpi(comm%MPI_VAL, ndim, patches, sides, links, turned, ierr)
  end subroutine tenon_links_create_from_sides_int32_f08
  ! Creates the links of patches that meet side by side. Collective on comm.
  subroutine tenon_links_create_from_sides_int32_mpi(comm, ndim, patches, sides, links, turned, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(in) :: ndim
    integer(c_int32_t), intent(in) :: patches(:)
    integer(c_int), intent(in) :: sides(:)
    type(tenon_links), intent(out) :: links
    integer(c_int), intent(in), optional :: turned(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    integer(c_int), allocatable :: c_turned(:)
    tenon_code = TENON_SUCCESS
    c_count = size(patches)
    call check_length(tenon_code, 'tenon_links_create_from_sides', 'sides', size(sides), c_count)
    if (present(turned)) call check_length(tenon_code, 'tenon_links_create_from_sides', 'turned', &
      size(turned), c_count)
    if (present(turned)) c_turned = turned
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonLinksCreateFromSides(comm, ndim, &
      int(c_count, c_int64_t), int(patches, c_int64_t), sides, c_turned, links%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_links_create_from_sides_int32_mpi
  ! Returns the layout of a field on the patches. Collective on the links.
  subroutine tenon_links_get_layout_int64(links, shape, layout, ierr)
    type(tenon_links), intent(in) :: links
    integer(c_int64_t), intent(in) :: shape(:)
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    c_ndim = size(shape)
    tenon_code = TenonLinksGetLayout(links%handle, c_ndim, int(reverse(shape), c_int64_t), layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_links_get_layout_int64
  ! Returns the layout of a field on the patches. Collective on the links.
  subroutine tenon_links_get_layout_int32(links, shape, layout, ierr)
    type(tenon_links), intent(in) :: links
    integer(c_int32_t), intent(in) :: shape(:)
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_ndim
    c_ndim = size(shape)
    tenon_code = TenonLinksGetLayout(links%handle, c_ndim, int(reverse(shape), c_int64_t), layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_links_get_layout_int32
  ! Hands links to a layer. Local; call on all ranks.
  subroutine tenon_layer_set_links(layer, links, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_links), intent(in) :: links
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLayerSetLinks(layer%handle, links%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_layer_set_links
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_links_destroy(links, ierr)
    type(tenon_links), intent(inout) :: links
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLinksDestroy(links%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_links_destroy
  ! Turns the log on or off, like -tenon_log_view at the start. Not collective.
  subroutine tenon_log_enable(on, ierr)
    logical, intent(in) :: on
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLogEnable(c_bool_of(on))
    call finish(tenon_code, ierr)
  end subroutine tenon_log_enable
  ! Returns the number of the event with a given name. Not collective.
  subroutine tenon_log_event_register(name, event, ierr)
    character(len=*), intent(in) :: name
    integer(c_int), intent(out) :: event
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_event
    tenon_code = TenonLogEventRegister(trim(name)//c_null_char, c_event)
    if (tenon_code == TENON_SUCCESS) then
      event = c_event
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_log_event_register
  ! Begins an event; events can be nested. Not collective.
  subroutine tenon_log_event_begin(event, ierr)
    integer(c_int), intent(in) :: event
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLogEventBegin(event)
    call finish(tenon_code, ierr)
  end subroutine tenon_log_event_begin
  ! Ends the innermost event. Not collective.
  subroutine tenon_log_event_end(event, ierr)
    integer(c_int), intent(in) :: event
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLogEventEnd(event)
    call finish(tenon_code, ierr)
  end subroutine tenon_log_event_end
  ! Adds floating-point operations to the innermost event. Not collective.
  subroutine tenon_log_flops(flops, ierr)
    real(c_double), intent(in) :: flops
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLogFlops(flops)
    call finish(tenon_code, ierr)
  end subroutine tenon_log_flops
  ! Returns what this rank has done in the innermost open event so far. Not collective.
  subroutine tenon_log_get_work(seconds, flops, messages, bytes, ierr)
    real(c_double), intent(out), optional :: seconds
    real(c_double), intent(out), optional :: flops
    integer(c_int64_t), intent(out), optional :: messages
    integer(c_int64_t), intent(out), optional :: bytes
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_seconds
    real(c_double) :: c_flops
    integer(c_int64_t) :: c_messages
    integer(c_int64_t) :: c_bytes
    tenon_code = TenonLogGetWork(c_seconds, c_flops, c_messages, c_bytes)
    if (tenon_code == TENON_SUCCESS) then
      if (present(seconds)) seconds = c_seconds
      if (present(flops)) flops = c_flops
      if (present(messages)) call give(c_messages, messages, 'messages', tenon_code)
      if (present(bytes)) call give(c_bytes, bytes, 'bytes', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_log_get_work
  ! Returns what this rank has logged, for programs. Not collective.
  subroutine tenon_log_get_records(text, ierr)
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TenonLogGetRecords(c_text, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonLogGetRecords(c_text, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_log_get_records
  ! Begins a stage, to which events count until TenonLogStagePop(). Not collective.
  subroutine tenon_log_stage_push(name, ierr)
    character(len=*), intent(in) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLogStagePush(trim(name)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_log_stage_push
  ! Returns to the previous stage. Not collective.
  subroutine tenon_log_stage_pop(ierr)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonLogStagePop()
    call finish(tenon_code, ierr)
  end subroutine tenon_log_stage_pop
  ! Reports the progress of a long computation. Not collective.
  subroutine tenon_progress_show_int64(name, done, total, value, value_name, ierr)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: done
    integer(c_int64_t), intent(in) :: total
    real(c_double), intent(in) :: value
    character(len=*), intent(in), optional :: value_name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_value_name
    if (present(value_name)) c_value_name = trim(value_name)//c_null_char
    tenon_code = TenonProgressShow(trim(name)//c_null_char, int(done, c_int64_t), int(total, c_int64_t), &
      c_value_name, value)
    call finish(tenon_code, ierr)
  end subroutine tenon_progress_show_int64
  ! Reports the progress of a long computation. Not collective.
  subroutine tenon_progress_show_int32(name, done, total, value, value_name, ierr)
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: done
    integer(c_int32_t), intent(in) :: total
    real(c_double), intent(in) :: value
    character(len=*), intent(in), optional :: value_name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_value_name
    if (present(value_name)) c_value_name = trim(value_name)//c_null_char
    tenon_code = TenonProgressShow(trim(name)//c_null_char, int(done, c_int64_t), int(total, c_int64_t), &
      c_value_name, value)
    call finish(tenon_code, ierr)
  end subroutine tenon_progress_show_int32
  ! Creates a machine of given levels, without links. Not collective.
  subroutine tenon_machine_create_int64(name, names, sizes, machine, ierr)
    character(len=*), intent(in) :: name
    character(len=*), intent(in) :: names(:)
    integer(c_int64_t), intent(in) :: sizes(:)
    type(tenon_machine), intent(out) :: machine
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_levels
    character(len=len(names) + 1), target :: c_names(size(names))
    tenon_code = TENON_SUCCESS
    c_levels = size(names)
    call check_length(tenon_code, 'tenon_machine_create', 'sizes', size(sizes), c_levels)
    c_names = terminated(names)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonMachineCreate(trim(name)//c_null_char, c_levels, &
      addresses(c_names), int(sizes, c_int64_t), machine%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_create_int64
  ! Creates a machine of given levels, without links. Not collective.
  subroutine tenon_machine_create_int32(name, names, sizes, machine, ierr)
    character(len=*), intent(in) :: name
    character(len=*), intent(in) :: names(:)
    integer(c_int32_t), intent(in) :: sizes(:)
    type(tenon_machine), intent(out) :: machine
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_levels
    character(len=len(names) + 1), target :: c_names(size(names))
    tenon_code = TENON_SUCCESS
    c_levels = size(names)
    call check_length(tenon_code, 'tenon_machine_create', 'sizes', size(sizes), c_levels)
    c_names = terminated(names)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonMachineCreate(trim(name)//c_null_char, c_levels, &
      addresses(c_names), int(sizes, c_int64_t), machine%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_create_int32
  ! Creates a machine from a description file. Not collective.
  subroutine tenon_machine_create_from_file_int64(name_or_path, nodes, machine, ierr)
    character(len=*), intent(in) :: name_or_path
    integer(c_int64_t), intent(in) :: nodes
    type(tenon_machine), intent(out) :: machine
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonMachineCreateFromFile(trim(name_or_path)//c_null_char, int(nodes, c_int64_t), &
      machine%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_create_from_file_int64
  ! Creates a machine from a description file. Not collective.
  subroutine tenon_machine_create_from_file_int32(name_or_path, nodes, machine, ierr)
    character(len=*), intent(in) :: name_or_path
    integer(c_int32_t), intent(in) :: nodes
    type(tenon_machine), intent(out) :: machine
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonMachineCreateFromFile(trim(name_or_path)//c_null_char, int(nodes, c_int64_t), &
      machine%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_create_from_file_int32
  ! Creates a machine of this computer and its cores, without links. Not collective.
  subroutine tenon_machine_create_local(machine, ierr)
    type(tenon_machine), intent(out) :: machine
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonMachineCreateLocal(machine%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_create_local
  subroutine tenon_machine_create_from_comm_f08(comm, machine, ierr)
    type(MPI_Comm), intent(in) :: comm
    type(tenon_machine), intent(out) :: machine
    integer(c_int), intent(out), optional :: ierr
    call tenon_machine_create_from_comm_mpi(comm%MPI_VAL, machine, ierr)
  end subroutine tenon_machine_create_from_comm_f08
  ! Creates the machine of a job; its devices are the ranks. Collective on comm.
  subroutine tenon_machine_create_from_comm_mpi(comm, machine, ierr)
    integer(c_int), intent(in) :: comm
    type(tenon_machine), intent(out) :: machine
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonMachineCreateFromComm(comm, machine%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_create_from_comm_mpi
  subroutine tenon_machine_measure_f08(comm, space, rounds, machine, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: rounds
    type(tenon_machine), intent(out) :: machine
    integer(c_int), intent(out), optional :: ierr
    call tenon_machine_measure_mpi(comm%MPI_VAL, space, rounds, machine, ierr)
  end subroutine tenon_machine_measure_f08
  ! Measures the machine of a job. Collective on comm.
  subroutine tenon_machine_measure_mpi(comm, space, rounds, machine, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: rounds
    type(tenon_machine), intent(out) :: machine
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonMachineMeasure(comm, space, rounds, machine%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_measure_mpi
  ! Writes a description file of the machine. Collective on the communicator of a machine that was found or
  ! measured; else not collective.
  subroutine tenon_machine_save(machine, path, ierr)
    type(tenon_machine), intent(in) :: machine
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonMachineSave(machine%handle, trim(path)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_save
  ! Adds a link to the machine. Not collective.
  subroutine tenon_machine_add_link_int64(machine, name, level, units, bandwidth, latency, rule, ierr)
    type(tenon_machine), intent(in) :: machine
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: level
    integer(c_int64_t), intent(in) :: units
    real(c_double), intent(in) :: bandwidth
    real(c_double), intent(in) :: latency
    integer(c_int), intent(in) :: rule
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_machine_add_link', 'level', int(level, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonMachineAddLink(machine%handle, &
      trim(name)//c_null_char, level - 1, int(units, c_int64_t), bandwidth, latency, rule)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_add_link_int64
  ! Adds a link to the machine. Not collective.
  subroutine tenon_machine_add_link_int32(machine, name, level, units, bandwidth, latency, rule, ierr)
    type(tenon_machine), intent(in) :: machine
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: level
    integer(c_int32_t), intent(in) :: units
    real(c_double), intent(in) :: bandwidth
    real(c_double), intent(in) :: latency
    integer(c_int), intent(in) :: rule
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_machine_add_link', 'level', int(level, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonMachineAddLink(machine%handle, &
      trim(name)//c_null_char, level - 1, int(units, c_int64_t), bandwidth, latency, rule)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_add_link_int32
  ! Returns the numbers of levels, links and devices. Not collective.
  subroutine tenon_machine_get_counts(machine, levels, links, devices, ierr)
    type(tenon_machine), intent(in) :: machine
    integer(c_int), intent(out), optional :: levels
    integer(c_int), intent(out), optional :: links
    integer(c_int64_t), intent(out), optional :: devices
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_levels
    integer(c_int) :: c_links
    integer(c_int64_t) :: c_devices
    tenon_code = TenonMachineGetCounts(machine%handle, c_levels, c_links, c_devices)
    if (tenon_code == TENON_SUCCESS) then
      if (present(levels)) levels = c_levels
      if (present(links)) links = c_links
      if (present(devices)) call give(c_devices, devices, 'devices', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_get_counts
  ! Returns name and size of a level. Not collective.
  subroutine tenon_machine_get_level(machine, level, name, size, ierr)
    type(tenon_machine), intent(in) :: machine
    integer(c_int), intent(in) :: level
    character(len=:), allocatable, intent(out) :: name
    integer(c_int64_t), intent(out), optional :: size
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    integer(c_int64_t) :: c_size
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_machine_get_level', 'level', int(level, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonMachineGetLevel(machine%handle, level - 1, c_name, &
      0_c_int64_t, c_needed, c_size)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonMachineGetLevel(machine%handle, level - 1, c_name, int(c_needed, c_int64_t), &
        c_needed, c_size)
    end if
    if (tenon_code == TENON_SUCCESS) then
      if (present(size)) call give(c_size, size, 'size', tenon_code)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_get_level
  ! Returns name, level and rates of a link. Not collective.
  subroutine tenon_machine_get_link(machine, link, name, level, units, bandwidth, latency, ierr)
    type(tenon_machine), intent(in) :: machine
    integer(c_int), intent(in) :: link
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: level
    integer(c_int64_t), intent(out), optional :: units
    real(c_double), intent(out), optional :: bandwidth
    real(c_double), intent(out), optional :: latency
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    integer(c_int) :: c_level
    integer(c_int64_t) :: c_units
    real(c_double) :: c_bandwidth
    real(c_double) :: c_latency
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_machine_get_link', 'link', int(link, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonMachineGetLink(machine%handle, link - 1, c_name, &
      0_c_int64_t, c_needed, c_level, c_units, c_bandwidth, c_latency)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonMachineGetLink(machine%handle, link - 1, c_name, int(c_needed, c_int64_t), c_needed, &
        c_level, c_units, c_bandwidth, c_latency)
    end if
    if (tenon_code == TENON_SUCCESS) then
      if (present(level)) level = c_level
      if (present(units)) call give(c_units, units, 'units', tenon_code)
      if (present(bandwidth)) bandwidth = c_bandwidth
      if (present(latency)) latency = c_latency
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_get_link
  ! Returns the ranks of the devices, or the cores of this computer. Not collective.
  subroutine tenon_machine_get_ranks_int64(machine, ranks, ierr)
    type(tenon_machine), intent(in) :: machine
    integer(c_int64_t), intent(out) :: ranks(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_ranks(:)
    tenon_code = TENON_SUCCESS
    call machine_devices(machine%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_machine_get_ranks', 'ranks', size(ranks), c_extent)
    allocate (c_ranks(size(ranks)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonMachineGetRanks(machine%handle, c_ranks)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_ranks, ranks, 'ranks', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_get_ranks_int64
  ! Returns the ranks of the devices, or the cores of this computer. Not collective.
  subroutine tenon_machine_get_ranks_int32(machine, ranks, ierr)
    type(tenon_machine), intent(in) :: machine
    integer(c_int32_t), intent(out) :: ranks(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int64_t), allocatable :: c_ranks(:)
    tenon_code = TENON_SUCCESS
    call machine_devices(machine%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_machine_get_ranks', 'ranks', size(ranks), c_extent)
    allocate (c_ranks(size(ranks)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonMachineGetRanks(machine%handle, c_ranks)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_ranks, ranks, 'ranks', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_get_ranks_int32
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_machine_destroy(machine, ierr)
    type(tenon_machine), intent(inout) :: machine
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonMachineDestroy(machine%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_machine_destroy
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_trainer(object, name, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_trainer
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_partition(object, name, ierr)
    type(tenon_partition), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_partition
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_layout(object, name, ierr)
    type(tenon_layout), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_layout
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_index_map(object, name, ierr)
    type(tenon_index_map), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_index_map
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_edges(object, name, ierr)
    type(tenon_edges), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_edges
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_links(object, name, ierr)
    type(tenon_links), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_links
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_dtensor(object, name, ierr)
    type(tenon_dtensor), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_dtensor
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_linearop(object, name, ierr)
    type(tenon_linearop), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_linearop
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_layer(object, name, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_layer
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_machine(object, name, ierr)
    type(tenon_machine), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_machine
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_optimizer(object, name, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_optimizer
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_dataset(object, name, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_dataset
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_checkpoint(object, name, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_checkpoint
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_field_series(object, name, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_field_series
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_placement_list(object, name, ierr)
    type(tenon_placement_list), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_placement_list
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_reduction_programs(object, name, ierr)
    type(tenon_reduction_programs), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_reduction_programs
  ! Sets the name of an object, used in messages, views and reports. Not collective.
  subroutine tenon_set_name_plan(object, name, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in), optional :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_name
    if (present(name)) c_name = trim(name)//c_null_char
    tenon_code = TenonObjectSetName(object%handle, c_name)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_name_plan
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_trainer(object, name, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_trainer
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_partition(object, name, ierr)
    type(tenon_partition), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_partition
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_layout(object, name, ierr)
    type(tenon_layout), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_layout
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_index_map(object, name, ierr)
    type(tenon_index_map), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_index_map
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_edges(object, name, ierr)
    type(tenon_edges), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_edges
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_links(object, name, ierr)
    type(tenon_links), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_links
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_dtensor(object, name, ierr)
    type(tenon_dtensor), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_dtensor
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_linearop(object, name, ierr)
    type(tenon_linearop), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_linearop
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_layer(object, name, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_layer
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_machine(object, name, ierr)
    type(tenon_machine), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_machine
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_optimizer(object, name, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_optimizer
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_dataset(object, name, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_dataset
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_checkpoint(object, name, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_checkpoint
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_field_series(object, name, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_field_series
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_placement_list(object, name, ierr)
    type(tenon_placement_list), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_placement_list
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_reduction_programs(object, name, ierr)
    type(tenon_reduction_programs), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_reduction_programs
  ! Returns the name of an object. Not collective.
  subroutine tenon_get_name_plan(object, name, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetName(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetName(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_name_plan
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_trainer(object, prefix, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_trainer
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_partition(object, prefix, ierr)
    type(tenon_partition), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_partition
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_layout(object, prefix, ierr)
    type(tenon_layout), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_layout
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_index_map(object, prefix, ierr)
    type(tenon_index_map), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_index_map
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_edges(object, prefix, ierr)
    type(tenon_edges), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_edges
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_links(object, prefix, ierr)
    type(tenon_links), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_links
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_dtensor(object, prefix, ierr)
    type(tenon_dtensor), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_dtensor
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_linearop(object, prefix, ierr)
    type(tenon_linearop), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_linearop
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_layer(object, prefix, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_layer
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_machine(object, prefix, ierr)
    type(tenon_machine), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_machine
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_optimizer(object, prefix, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_optimizer
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_dataset(object, prefix, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_dataset
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_checkpoint(object, prefix, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_checkpoint
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_field_series(object, prefix, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_field_series
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_placement_list(object, prefix, ierr)
    type(tenon_placement_list), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_placement_list
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_reduction_programs(object, prefix, ierr)
    type(tenon_reduction_programs), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_reduction_programs
  ! Sets the prefix of the object's options. Not collective.
  subroutine tenon_set_options_prefix_plan(object, prefix, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonObjectSetOptionsPrefix(object%handle, c_prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_options_prefix_plan
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_trainer(object, prefix, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_trainer
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_partition(object, prefix, ierr)
    type(tenon_partition), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_partition
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_layout(object, prefix, ierr)
    type(tenon_layout), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_layout
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_index_map(object, prefix, ierr)
    type(tenon_index_map), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_index_map
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_edges(object, prefix, ierr)
    type(tenon_edges), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_edges
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_links(object, prefix, ierr)
    type(tenon_links), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_links
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_dtensor(object, prefix, ierr)
    type(tenon_dtensor), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_dtensor
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_linearop(object, prefix, ierr)
    type(tenon_linearop), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_linearop
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_layer(object, prefix, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_layer
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_machine(object, prefix, ierr)
    type(tenon_machine), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_machine
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_optimizer(object, prefix, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_optimizer
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_dataset(object, prefix, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_dataset
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_checkpoint(object, prefix, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_checkpoint
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_field_series(object, prefix, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_field_series
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_placement_list(object, prefix, ierr)
    type(tenon_placement_list), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_placement_list
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_reduction_programs(object, prefix, ierr)
    type(tenon_reduction_programs), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_reduction_programs
  ! Returns the prefix of the object's options. Not collective.
  subroutine tenon_get_options_prefix_plan(object, prefix, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=:), allocatable, intent(out) :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_prefix(:)
    tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_prefix(c_needed))
      tenon_code = TenonObjectGetOptionsPrefix(object%handle, c_prefix, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_prefix, tenon_code, prefix)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_options_prefix_plan
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_trainer(object, name, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_trainer
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_partition(object, name, ierr)
    type(tenon_partition), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_partition
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_layout(object, name, ierr)
    type(tenon_layout), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_layout
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_index_map(object, name, ierr)
    type(tenon_index_map), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_index_map
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_edges(object, name, ierr)
    type(tenon_edges), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_edges
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_links(object, name, ierr)
    type(tenon_links), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_links
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_dtensor(object, name, ierr)
    type(tenon_dtensor), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_dtensor
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_linearop(object, name, ierr)
    type(tenon_linearop), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_linearop
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_layer(object, name, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_layer
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_machine(object, name, ierr)
    type(tenon_machine), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_machine
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_optimizer(object, name, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_optimizer
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_dataset(object, name, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_dataset
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_checkpoint(object, name, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_checkpoint
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_field_series(object, name, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_field_series
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_placement_list(object, name, ierr)
    type(tenon_placement_list), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_placement_list
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_reduction_programs(object, name, ierr)
    type(tenon_reduction_programs), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_reduction_programs
  ! Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
  subroutine tenon_get_class_plan(object, name, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TenonObjectGetClass(object%handle, c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonObjectGetClass(object%handle, c_name, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_class_plan
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_trainer(object, type, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_trainer
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_partition(object, type, ierr)
    type(tenon_partition), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_partition
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_layout(object, type, ierr)
    type(tenon_layout), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_layout
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_index_map(object, type, ierr)
    type(tenon_index_map), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_index_map
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_edges(object, type, ierr)
    type(tenon_edges), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_edges
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_links(object, type, ierr)
    type(tenon_links), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_links
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_dtensor(object, type, ierr)
    type(tenon_dtensor), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_dtensor
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_linearop(object, type, ierr)
    type(tenon_linearop), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_linearop
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_layer(object, type, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_layer
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_machine(object, type, ierr)
    type(tenon_machine), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_machine
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_optimizer(object, type, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_optimizer
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_dataset(object, type, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_dataset
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_checkpoint(object, type, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_checkpoint
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_field_series(object, type, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_field_series
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_placement_list(object, type, ierr)
    type(tenon_placement_list), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_placement_list
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_reduction_programs(object, type, ierr)
    type(tenon_reduction_programs), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_reduction_programs
  ! Returns the type of an object within its class: "conv", "adam", "halo", ... Not collective.
  subroutine tenon_get_type_plan(object, type, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=:), allocatable, intent(out) :: type
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_type(:)
    tenon_code = TenonObjectGetType(object%handle, c_type, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_type(c_needed))
      tenon_code = TenonObjectGetType(object%handle, c_type, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_type, tenon_code, type)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_type_plan
  subroutine tenon_get_comm_trainer_f08(object, comm, ierr)
    type(tenon_trainer), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_trainer_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_trainer_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_trainer_mpi(object, comm, ierr)
    type(tenon_trainer), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_trainer_mpi
  subroutine tenon_get_comm_partition_f08(object, comm, ierr)
    type(tenon_partition), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_partition_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_partition_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_partition_mpi(object, comm, ierr)
    type(tenon_partition), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_partition_mpi
  subroutine tenon_get_comm_layout_f08(object, comm, ierr)
    type(tenon_layout), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_layout_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_layout_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_layout_mpi(object, comm, ierr)
    type(tenon_layout), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_layout_mpi
  subroutine tenon_get_comm_index_map_f08(object, comm, ierr)
    type(tenon_index_map), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_index_map_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_index_map_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_index_map_mpi(object, comm, ierr)
    type(tenon_index_map), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_index_map_mpi
  subroutine tenon_get_comm_edges_f08(object, comm, ierr)
    type(tenon_edges), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_edges_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_edges_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_edges_mpi(object, comm, ierr)
    type(tenon_edges), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_edges_mpi
  subroutine tenon_get_comm_links_f08(object, comm, ierr)
    type(tenon_links), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_links_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_links_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_links_mpi(object, comm, ierr)
    type(tenon_links), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_links_mpi
  subroutine tenon_get_comm_dtensor_f08(object, comm, ierr)
    type(tenon_dtensor), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_dtensor_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_dtensor_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_dtensor_mpi(object, comm, ierr)
    type(tenon_dtensor), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_dtensor_mpi
  subroutine tenon_get_comm_linearop_f08(object, comm, ierr)
    type(tenon_linearop), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_linearop_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_linearop_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_linearop_mpi(object, comm, ierr)
    type(tenon_linearop), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_linearop_mpi
  subroutine tenon_get_comm_layer_f08(object, comm, ierr)
    type(tenon_layer), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_layer_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_layer_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_layer_mpi(object, comm, ierr)
    type(tenon_layer), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_layer_mpi
  subroutine tenon_get_comm_machine_f08(object, comm, ierr)
    type(tenon_machine), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_machine_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_machine_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_machine_mpi(object, comm, ierr)
    type(tenon_machine), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_machine_mpi
  subroutine tenon_get_comm_optimizer_f08(object, comm, ierr)
    type(tenon_optimizer), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_optimizer_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_optimizer_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_optimizer_mpi(object, comm, ierr)
    type(tenon_optimizer), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_optimizer_mpi
  subroutine tenon_get_comm_dataset_f08(object, comm, ierr)
    type(tenon_dataset), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_dataset_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_dataset_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_dataset_mpi(object, comm, ierr)
    type(tenon_dataset), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_dataset_mpi
  subroutine tenon_get_comm_checkpoint_f08(object, comm, ierr)
    type(tenon_checkpoint), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_checkpoint_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_checkpoint_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_checkpoint_mpi(object, comm, ierr)
    type(tenon_checkpoint), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_checkpoint_mpi
  subroutine tenon_get_comm_field_series_f08(object, comm, ierr)
    type(tenon_field_series), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_field_series_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_field_series_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_field_series_mpi(object, comm, ierr)
    type(tenon_field_series), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_field_series_mpi
  subroutine tenon_get_comm_placement_list_f08(object, comm, ierr)
    type(tenon_placement_list), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_placement_list_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_placement_list_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_placement_list_mpi(object, comm, ierr)
    type(tenon_placement_list), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_placement_list_mpi
  subroutine tenon_get_comm_reduction_programs_f08(object, comm, ierr)
    type(tenon_reduction_programs), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_reduction_programs_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_reduction_programs_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_reduction_programs_mpi(object, comm, ierr)
    type(tenon_reduction_programs), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_reduction_programs_mpi
  subroutine tenon_get_comm_plan_f08(object, comm, ierr)
    type(tenon_plan), intent(in) :: object
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_get_comm_plan_mpi(object, comm%MPI_VAL, ierr)
  end subroutine tenon_get_comm_plan_f08
  ! Returns the communicator of an object. Not collective.
  subroutine tenon_get_comm_plan_mpi(object, comm, ierr)
    type(tenon_plan), intent(in) :: object
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectGetComm(object%handle, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_comm_plan_mpi
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_trainer(object, ierr)
    type(tenon_trainer), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_trainer
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_partition(object, ierr)
    type(tenon_partition), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_partition
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_layout(object, ierr)
    type(tenon_layout), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_layout
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_index_map(object, ierr)
    type(tenon_index_map), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_index_map
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_edges(object, ierr)
    type(tenon_edges), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_edges
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_links(object, ierr)
    type(tenon_links), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_links
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_dtensor(object, ierr)
    type(tenon_dtensor), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_dtensor
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_linearop(object, ierr)
    type(tenon_linearop), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_linearop
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_layer(object, ierr)
    type(tenon_layer), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_layer
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_machine(object, ierr)
    type(tenon_machine), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_machine
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_optimizer(object, ierr)
    type(tenon_optimizer), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_optimizer
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_dataset(object, ierr)
    type(tenon_dataset), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_dataset
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_checkpoint(object, ierr)
    type(tenon_checkpoint), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_checkpoint
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_field_series(object, ierr)
    type(tenon_field_series), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_field_series
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_placement_list(object, ierr)
    type(tenon_placement_list), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_placement_list
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_reduction_programs(object, ierr)
    type(tenon_reduction_programs), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_reduction_programs
  ! Adds a reference, so that one more destroy call is needed. Not collective.
  subroutine tenon_retain_plan(object, ierr)
    type(tenon_plan), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectRetain(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_retain_plan
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_trainer(object, references, ierr)
    type(tenon_trainer), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_trainer
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_partition(object, references, ierr)
    type(tenon_partition), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_partition
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_layout(object, references, ierr)
    type(tenon_layout), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_layout
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_index_map(object, references, ierr)
    type(tenon_index_map), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_index_map
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_edges(object, references, ierr)
    type(tenon_edges), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_edges
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_links(object, references, ierr)
    type(tenon_links), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_links
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_dtensor(object, references, ierr)
    type(tenon_dtensor), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_dtensor
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_linearop(object, references, ierr)
    type(tenon_linearop), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_linearop
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_layer(object, references, ierr)
    type(tenon_layer), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_layer
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_machine(object, references, ierr)
    type(tenon_machine), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_machine
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_optimizer(object, references, ierr)
    type(tenon_optimizer), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_optimizer
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_dataset(object, references, ierr)
    type(tenon_dataset), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_dataset
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_checkpoint(object, references, ierr)
    type(tenon_checkpoint), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_checkpoint
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_field_series(object, references, ierr)
    type(tenon_field_series), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_field_series
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_placement_list(object, references, ierr)
    type(tenon_placement_list), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_placement_list
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_reduction_programs(object, references, ierr)
    type(tenon_reduction_programs), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_reduction_programs
  ! Returns the number of references, Tenon's own included. Not collective.
  subroutine tenon_get_references_plan(object, references, ierr)
    type(tenon_plan), intent(in) :: object
    integer(c_int), intent(out) :: references
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_references
    tenon_code = TenonObjectGetReferences(object%handle, c_references)
    if (tenon_code == TENON_SUCCESS) then
      references = c_references
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_references_plan
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_trainer(object, ierr)
    type(tenon_trainer), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_trainer
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_partition(object, ierr)
    type(tenon_partition), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_partition
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_layout(object, ierr)
    type(tenon_layout), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_layout
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_index_map(object, ierr)
    type(tenon_index_map), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_index_map
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_edges(object, ierr)
    type(tenon_edges), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_edges
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_links(object, ierr)
    type(tenon_links), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_links
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_dtensor(object, ierr)
    type(tenon_dtensor), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_dtensor
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_linearop(object, ierr)
    type(tenon_linearop), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_linearop
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_layer(object, ierr)
    type(tenon_layer), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_layer
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_machine(object, ierr)
    type(tenon_machine), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_machine
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_optimizer(object, ierr)
    type(tenon_optimizer), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_optimizer
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_dataset(object, ierr)
    type(tenon_dataset), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_dataset
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_checkpoint(object, ierr)
    type(tenon_checkpoint), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_checkpoint
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_field_series(object, ierr)
    type(tenon_field_series), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_field_series
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_placement_list(object, ierr)
    type(tenon_placement_list), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_placement_list
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_reduction_programs(object, ierr)
    type(tenon_reduction_programs), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_reduction_programs
  ! Prints an object, on rank 0 of its communicator. Not collective.
  subroutine tenon_view_plan(object, ierr)
    type(tenon_plan), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectView(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_view_plan
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_trainer_int64(object, name, values, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_trainer_int64
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_trainer_int32(object, name, values, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_trainer_int32
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_layer_int64(object, name, values, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_layer_int64
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_layer_int32(object, name, values, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_layer_int32
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_optimizer_int64(object, name, values, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_optimizer_int64
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_optimizer_int32(object, name, values, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_optimizer_int32
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_dataset_int64(object, name, values, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_dataset_int64
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_dataset_int32(object, name, values, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_dataset_int32
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_checkpoint_int64(object, name, values, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_checkpoint_int64
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_checkpoint_int32(object, name, values, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_checkpoint_int32
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_field_series_int64(object, name, values, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_field_series_int64
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_field_series_int32(object, name, values, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_field_series_int32
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_plan_int64(object, name, values, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_plan_int64
  ! Sets a setting that takes integers. Local; call on all ranks.
  subroutine tenon_set_integers_plan_int32(object, name, values, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = size(values)
    tenon_code = TenonObjectSetIntegers(object%handle, trim(name)//c_null_char, int(c_length, c_int64_t), &
      turned_setting(name, int(values, c_int64_t)))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_integers_plan_int32
  ! Sets a setting that takes a real number. Local; call on all ranks.
  subroutine tenon_set_real_trainer(object, name, value, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetReal(object%handle, trim(name)//c_null_char, value)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_real_trainer
  ! Sets a setting that takes a real number. Local; call on all ranks.
  subroutine tenon_set_real_layer(object, name, value, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetReal(object%handle, trim(name)//c_null_char, value)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_real_layer
  ! Sets a setting that takes a real number. Local; call on all ranks.
  subroutine tenon_set_real_optimizer(object, name, value, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetReal(object%handle, trim(name)//c_null_char, value)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_real_optimizer
  ! Sets a setting that takes a real number. Local; call on all ranks.
  subroutine tenon_set_real_dataset(object, name, value, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetReal(object%handle, trim(name)//c_null_char, value)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_real_dataset
  ! Sets a setting that takes a real number. Local; call on all ranks.
  subroutine tenon_set_real_checkpoint(object, name, value, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetReal(object%handle, trim(name)//c_null_char, value)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_real_checkpoint
  ! Sets a setting that takes a real number. Local; call on all ranks.
  subroutine tenon_set_real_field_series(object, name, value, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetReal(object%handle, trim(name)//c_null_char, value)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_real_field_series
  ! Sets a setting that takes a real number. Local; call on all ranks.
  subroutine tenon_set_real_plan(object, name, value, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetReal(object%handle, trim(name)//c_null_char, value)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_real_plan
  ! Sets a setting that takes text. Local; call on all ranks.
  subroutine tenon_set_text_trainer(object, name, text, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=*), intent(in) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetText(object%handle, trim(name)//c_null_char, &
      turned_text(name, trim(text))//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_text_trainer
  ! Sets a setting that takes text. Local; call on all ranks.
  subroutine tenon_set_text_layer(object, name, text, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=*), intent(in) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetText(object%handle, trim(name)//c_null_char, &
      turned_text(name, trim(text))//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_text_layer
  ! Sets a setting that takes text. Local; call on all ranks.
  subroutine tenon_set_text_optimizer(object, name, text, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=*), intent(in) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetText(object%handle, trim(name)//c_null_char, &
      turned_text(name, trim(text))//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_text_optimizer
  ! Sets a setting that takes text. Local; call on all ranks.
  subroutine tenon_set_text_dataset(object, name, text, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=*), intent(in) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetText(object%handle, trim(name)//c_null_char, &
      turned_text(name, trim(text))//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_text_dataset
  ! Sets a setting that takes text. Local; call on all ranks.
  subroutine tenon_set_text_checkpoint(object, name, text, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=*), intent(in) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetText(object%handle, trim(name)//c_null_char, &
      turned_text(name, trim(text))//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_text_checkpoint
  ! Sets a setting that takes text. Local; call on all ranks.
  subroutine tenon_set_text_field_series(object, name, text, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=*), intent(in) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetText(object%handle, trim(name)//c_null_char, &
      turned_text(name, trim(text))//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_text_field_series
  ! Sets a setting that takes text. Local; call on all ranks.
  subroutine tenon_set_text_plan(object, name, text, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=*), intent(in) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetText(object%handle, trim(name)//c_null_char, &
      turned_text(name, trim(text))//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_text_plan
  ! Sets a setting that is true or false. Local; call on all ranks.
  subroutine tenon_set_bool_trainer(object, name, value, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetBool(object%handle, trim(name)//c_null_char, c_bool_of(value))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_bool_trainer
  ! Sets a setting that is true or false. Local; call on all ranks.
  subroutine tenon_set_bool_layer(object, name, value, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetBool(object%handle, trim(name)//c_null_char, c_bool_of(value))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_bool_layer
  ! Sets a setting that is true or false. Local; call on all ranks.
  subroutine tenon_set_bool_optimizer(object, name, value, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetBool(object%handle, trim(name)//c_null_char, c_bool_of(value))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_bool_optimizer
  ! Sets a setting that is true or false. Local; call on all ranks.
  subroutine tenon_set_bool_dataset(object, name, value, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetBool(object%handle, trim(name)//c_null_char, c_bool_of(value))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_bool_dataset
  ! Sets a setting that is true or false. Local; call on all ranks.
  subroutine tenon_set_bool_checkpoint(object, name, value, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetBool(object%handle, trim(name)//c_null_char, c_bool_of(value))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_bool_checkpoint
  ! Sets a setting that is true or false. Local; call on all ranks.
  subroutine tenon_set_bool_field_series(object, name, value, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetBool(object%handle, trim(name)//c_null_char, c_bool_of(value))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_bool_field_series
  ! Sets a setting that is true or false. Local; call on all ranks.
  subroutine tenon_set_bool_plan(object, name, value, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(in) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetBool(object%handle, trim(name)//c_null_char, c_bool_of(value))
    call finish(tenon_code, ierr)
  end subroutine tenon_set_bool_plan
  ! Reads the options -tenon_[prefix_]name of all settings. Local; call on all ranks.
  subroutine tenon_set_from_options_trainer(object, ierr)
    type(tenon_trainer), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetFromOptions(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_from_options_trainer
  ! Reads the options -tenon_[prefix_]name of all settings. Local; call on all ranks.
  subroutine tenon_set_from_options_layer(object, ierr)
    type(tenon_layer), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetFromOptions(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_from_options_layer
  ! Reads the options -tenon_[prefix_]name of all settings. Local; call on all ranks.
  subroutine tenon_set_from_options_optimizer(object, ierr)
    type(tenon_optimizer), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetFromOptions(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_from_options_optimizer
  ! Reads the options -tenon_[prefix_]name of all settings. Local; call on all ranks.
  subroutine tenon_set_from_options_dataset(object, ierr)
    type(tenon_dataset), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetFromOptions(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_from_options_dataset
  ! Reads the options -tenon_[prefix_]name of all settings. Local; call on all ranks.
  subroutine tenon_set_from_options_checkpoint(object, ierr)
    type(tenon_checkpoint), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetFromOptions(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_from_options_checkpoint
  ! Reads the options -tenon_[prefix_]name of all settings. Local; call on all ranks.
  subroutine tenon_set_from_options_field_series(object, ierr)
    type(tenon_field_series), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetFromOptions(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_from_options_field_series
  ! Reads the options -tenon_[prefix_]name of all settings. Local; call on all ranks.
  subroutine tenon_set_from_options_plan(object, ierr)
    type(tenon_plan), intent(in) :: object
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonObjectSetFromOptions(object%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_set_from_options_plan
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_trainer_int64(object, name, values, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_trainer_int64
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_trainer_int32(object, name, values, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_trainer_int32
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_layer_int64(object, name, values, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_layer_int64
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_layer_int32(object, name, values, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_layer_int32
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_optimizer_int64(object, name, values, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_optimizer_int64
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_optimizer_int32(object, name, values, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_optimizer_int32
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_dataset_int64(object, name, values, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_dataset_int64
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_dataset_int32(object, name, values, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_dataset_int32
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_checkpoint_int64(object, name, values, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_checkpoint_int64
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_checkpoint_int32(object, name, values, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_checkpoint_int32
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_field_series_int64(object, name, values, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_field_series_int64
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_field_series_int32(object, name, values, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_field_series_int32
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_plan_int64(object, name, values, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int64_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_plan_int64
  ! Returns integers as set, or their default. Not collective.
  subroutine tenon_get_integers_plan_int32(object, name, values, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in) :: name
    integer(c_int32_t), allocatable, intent(out) :: values(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, 0_c_int64_t, c_values, &
      c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonObjectGetIntegers(object%handle, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(turned_setting(name, c_values), values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_integers_plan_int32
  ! Returns a real number as set, or its default. Not collective.
  subroutine tenon_get_real_trainer(object, name, value, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_value
    tenon_code = TenonObjectGetReal(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_real_trainer
  ! Returns a real number as set, or its default. Not collective.
  subroutine tenon_get_real_layer(object, name, value, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_value
    tenon_code = TenonObjectGetReal(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_real_layer
  ! Returns a real number as set, or its default. Not collective.
  subroutine tenon_get_real_optimizer(object, name, value, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_value
    tenon_code = TenonObjectGetReal(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_real_optimizer
  ! Returns a real number as set, or its default. Not collective.
  subroutine tenon_get_real_dataset(object, name, value, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_value
    tenon_code = TenonObjectGetReal(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_real_dataset
  ! Returns a real number as set, or its default. Not collective.
  subroutine tenon_get_real_checkpoint(object, name, value, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_value
    tenon_code = TenonObjectGetReal(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_real_checkpoint
  ! Returns a real number as set, or its default. Not collective.
  subroutine tenon_get_real_field_series(object, name, value, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_value
    tenon_code = TenonObjectGetReal(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_real_field_series
  ! Returns a real number as set, or its default. Not collective.
  subroutine tenon_get_real_plan(object, name, value, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in) :: name
    real(c_double), intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_value
    tenon_code = TenonObjectGetReal(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_real_plan
  ! Returns text as set, or its default. Not collective.
  subroutine tenon_get_text_trainer(object, name, text, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    text = turned_text(name, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_text_trainer
  ! Returns text as set, or its default. Not collective.
  subroutine tenon_get_text_layer(object, name, text, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    text = turned_text(name, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_text_layer
  ! Returns text as set, or its default. Not collective.
  subroutine tenon_get_text_optimizer(object, name, text, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    text = turned_text(name, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_text_optimizer
  ! Returns text as set, or its default. Not collective.
  subroutine tenon_get_text_dataset(object, name, text, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    text = turned_text(name, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_text_dataset
  ! Returns text as set, or its default. Not collective.
  subroutine tenon_get_text_checkpoint(object, name, text, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    text = turned_text(name, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_text_checkpoint
  ! Returns text as set, or its default. Not collective.
  subroutine tenon_get_text_field_series(object, name, text, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    text = turned_text(name, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_text_field_series
  ! Returns text as set, or its default. Not collective.
  subroutine tenon_get_text_plan(object, name, text, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in) :: name
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonObjectGetText(object%handle, trim(name)//c_null_char, c_text, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    text = turned_text(name, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_get_text_plan
  ! Returns whether a setting is true, as set or by default. Not collective.
  subroutine tenon_get_bool_trainer(object, name, value, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_value
    tenon_code = TenonObjectGetBool(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_bool_trainer
  ! Returns whether a setting is true, as set or by default. Not collective.
  subroutine tenon_get_bool_layer(object, name, value, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_value
    tenon_code = TenonObjectGetBool(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_bool_layer
  ! Returns whether a setting is true, as set or by default. Not collective.
  subroutine tenon_get_bool_optimizer(object, name, value, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_value
    tenon_code = TenonObjectGetBool(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_bool_optimizer
  ! Returns whether a setting is true, as set or by default. Not collective.
  subroutine tenon_get_bool_dataset(object, name, value, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_value
    tenon_code = TenonObjectGetBool(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_bool_dataset
  ! Returns whether a setting is true, as set or by default. Not collective.
  subroutine tenon_get_bool_checkpoint(object, name, value, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_value
    tenon_code = TenonObjectGetBool(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_bool_checkpoint
  ! Returns whether a setting is true, as set or by default. Not collective.
  subroutine tenon_get_bool_field_series(object, name, value, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_value
    tenon_code = TenonObjectGetBool(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_bool_field_series
  ! Returns whether a setting is true, as set or by default. Not collective.
  subroutine tenon_get_bool_plan(object, name, value, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_value
    tenon_code = TenonObjectGetBool(object%handle, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_get_bool_plan
  ! Returns whether a setting has been set, or has its default. Not collective.
  subroutine tenon_is_set_trainer(object, name, is_set, ierr)
    type(tenon_trainer), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: is_set
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_is_set
    tenon_code = TenonObjectIsSet(object%handle, trim(name)//c_null_char, c_is_set)
    if (tenon_code == TENON_SUCCESS) then
      is_set = c_is_set /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_is_set_trainer
  ! Returns whether a setting has been set, or has its default. Not collective.
  subroutine tenon_is_set_layer(object, name, is_set, ierr)
    type(tenon_layer), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: is_set
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_is_set
    tenon_code = TenonObjectIsSet(object%handle, trim(name)//c_null_char, c_is_set)
    if (tenon_code == TENON_SUCCESS) then
      is_set = c_is_set /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_is_set_layer
  ! Returns whether a setting has been set, or has its default. Not collective.
  subroutine tenon_is_set_optimizer(object, name, is_set, ierr)
    type(tenon_optimizer), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: is_set
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_is_set
    tenon_code = TenonObjectIsSet(object%handle, trim(name)//c_null_char, c_is_set)
    if (tenon_code == TENON_SUCCESS) then
      is_set = c_is_set /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_is_set_optimizer
  ! Returns whether a setting has been set, or has its default. Not collective.
  subroutine tenon_is_set_dataset(object, name, is_set, ierr)
    type(tenon_dataset), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: is_set
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_is_set
    tenon_code = TenonObjectIsSet(object%handle, trim(name)//c_null_char, c_is_set)
    if (tenon_code == TENON_SUCCESS) then
      is_set = c_is_set /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_is_set_dataset
  ! Returns whether a setting has been set, or has its default. Not collective.
  subroutine tenon_is_set_checkpoint(object, name, is_set, ierr)
    type(tenon_checkpoint), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: is_set
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_is_set
    tenon_code = TenonObjectIsSet(object%handle, trim(name)//c_null_char, c_is_set)
    if (tenon_code == TENON_SUCCESS) then
      is_set = c_is_set /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_is_set_checkpoint
  ! Returns whether a setting has been set, or has its default. Not collective.
  subroutine tenon_is_set_field_series(object, name, is_set, ierr)
    type(tenon_field_series), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: is_set
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_is_set
    tenon_code = TenonObjectIsSet(object%handle, trim(name)//c_null_char, c_is_set)
    if (tenon_code == TENON_SUCCESS) then
      is_set = c_is_set /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_is_set_field_series
  ! Returns whether a setting has been set, or has its default. Not collective.
  subroutine tenon_is_set_plan(object, name, is_set, ierr)
    type(tenon_plan), intent(in) :: object
    character(len=*), intent(in) :: name
    logical, intent(out) :: is_set
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_is_set
    tenon_code = TenonObjectIsSet(object%handle, trim(name)//c_null_char, c_is_set)
    if (tenon_code == TENON_SUCCESS) then
      is_set = c_is_set /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_is_set_plan
  ! Creates an optimizer for all parameters of a layer. Collective on the layer.
  subroutine tenon_optimizer_create(layer, type, optimizer, ierr)
    type(tenon_layer), intent(in) :: layer
    character(len=*), intent(in) :: type
    type(tenon_optimizer), intent(out) :: optimizer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonOptimizerCreate(layer%handle, trim(type)//c_null_char, optimizer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_optimizer_create
  ! Sets the learning rate. Local; call on all ranks.
  subroutine tenon_optimizer_set_learning_rate(optimizer, rate, ierr)
    type(tenon_optimizer), intent(in) :: optimizer
    real(c_double), intent(in) :: rate
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonOptimizerSetLearningRate(optimizer%handle, rate)
    call finish(tenon_code, ierr)
  end subroutine tenon_optimizer_set_learning_rate
  ! Reports a loss, of training or validation. Local; call on all ranks.
  subroutine tenon_optimizer_report(optimizer, loss, stop, ierr)
    type(tenon_optimizer), intent(in) :: optimizer
    real(c_double), intent(in) :: loss
    logical, intent(out), optional :: stop
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_stop
    tenon_code = TenonOptimizerReport(optimizer%handle, loss, c_stop)
    if (tenon_code == TENON_SUCCESS) then
      if (present(stop)) stop = c_stop /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_optimizer_report
  ! Returns the learning rate of the next step. Not collective.
  subroutine tenon_optimizer_get_learning_rate(optimizer, rate, ierr)
    type(tenon_optimizer), intent(in) :: optimizer
    real(c_double), intent(out) :: rate
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_rate
    tenon_code = TenonOptimizerGetLearningRate(optimizer%handle, c_rate)
    if (tenon_code == TENON_SUCCESS) then
      rate = c_rate
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_optimizer_get_learning_rate
  ! Scales the gradients so that their norm is at most the maximum. Collective on the layer.
  subroutine tenon_optimizer_clip_gradient_norm(optimizer, maximum, norm, ierr)
    type(tenon_optimizer), intent(in) :: optimizer
    real(c_double), intent(in) :: maximum
    real(c_double), intent(out), optional :: norm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_norm
    tenon_code = TenonOptimizerClipGradientNorm(optimizer%handle, maximum, c_norm)
    if (tenon_code == TENON_SUCCESS) then
      if (present(norm)) norm = c_norm
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_optimizer_clip_gradient_norm
  ! Updates all parameters and clears their gradients. Collective on the layer.
  subroutine tenon_optimizer_step(optimizer, ierr)
    type(tenon_optimizer), intent(in) :: optimizer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonOptimizerStep(optimizer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_optimizer_step
  ! Returns the number of updates so far. Not collective.
  subroutine tenon_optimizer_get_steps_int64(optimizer, steps, ierr)
    type(tenon_optimizer), intent(in) :: optimizer
    integer(c_int64_t), intent(out) :: steps
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_steps
    tenon_code = TenonOptimizerGetSteps(optimizer%handle, c_steps)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_steps, steps, 'steps', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_optimizer_get_steps_int64
  ! Returns the number of updates so far. Not collective.
  subroutine tenon_optimizer_get_steps_int32(optimizer, steps, ierr)
    type(tenon_optimizer), intent(in) :: optimizer
    integer(c_int32_t), intent(out) :: steps
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_steps
    tenon_code = TenonOptimizerGetSteps(optimizer%handle, c_steps)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_steps, steps, 'steps', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_optimizer_get_steps_int32
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_optimizer_destroy(optimizer, ierr)
    type(tenon_optimizer), intent(inout) :: optimizer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonOptimizerDestroy(optimizer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_optimizer_destroy
  ! Declares an option of the program, written -name. Local; call on all ranks.
  subroutine tenon_options_declare(owner, name, type, default_value, help, choices, ierr)
    character(len=*), intent(in) :: owner
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: type
    character(len=*), intent(in), optional :: default_value
    character(len=*), intent(in), optional :: help
    character(len=*), intent(in), optional :: choices
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_default_value
    character(len=:), allocatable :: c_help
    character(len=:), allocatable :: c_choices
    if (present(default_value)) c_default_value = trim(default_value)//c_null_char
    if (present(help)) c_help = trim(help)//c_null_char
    if (present(choices)) c_choices = trim(choices)//c_null_char
    tenon_code = TenonOptionsDeclare(trim(owner)//c_null_char, trim(name)//c_null_char, type, &
      c_default_value, c_help, c_choices)
    call finish(tenon_code, ierr)
  end subroutine tenon_options_declare
  ! Declares that the command line has no options of other libraries. Not collective.
  subroutine tenon_options_own_command_line(ierr)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonOptionsOwnCommandLine()
    call finish(tenon_code, ierr)
  end subroutine tenon_options_own_command_line
  ! Sets an option. Local; call on all ranks.
  subroutine tenon_options_set(key, value, ierr)
    character(len=*), intent(in) :: key
    character(len=*), intent(in), optional :: value
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_value
    if (present(value)) c_value = trim(value)//c_null_char
    tenon_code = TenonOptionsSet(trim(key)//c_null_char, c_value)
    call finish(tenon_code, ierr)
  end subroutine tenon_options_set
  ! Reads an options file: one option per line, # begins a comment. Local; call on all ranks.
  subroutine tenon_options_insert_file(path, ierr)
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonOptionsInsertFile(trim(path)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_options_insert_file
  ! Returns the value of a flag, or its default. Not collective.
  subroutine tenon_options_get_flag(name, value, prefix, ierr)
    character(len=*), intent(in) :: name
    logical, intent(out) :: value
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    integer(c_int) :: c_value
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonOptionsGetFlag(c_prefix, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_options_get_flag
  ! Returns the value of an integer option, or its default. Not collective.
  subroutine tenon_options_get_int_int64(name, value, prefix, ierr)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(out) :: value
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    integer(c_int64_t) :: c_value
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonOptionsGetInt(c_prefix, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_value, value, 'value', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_options_get_int_int64
  ! Returns the value of an integer option, or its default. Not collective.
  subroutine tenon_options_get_int_int32(name, value, prefix, ierr)
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(out) :: value
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    integer(c_int64_t) :: c_value
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonOptionsGetInt(c_prefix, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      call give(c_value, value, 'value', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_options_get_int_int32
  ! Returns the values of an option of integers, or its default. Not collective.
  subroutine tenon_options_get_integers_int64(name, values, prefix, ierr)
    character(len=*), intent(in) :: name
    integer(c_int64_t), allocatable, intent(out) :: values(:)
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonOptionsGetIntegers(c_prefix, trim(name)//c_null_char, 0_c_int64_t, c_values, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonOptionsGetIntegers(c_prefix, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(c_values, values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_options_get_integers_int64
  ! Returns the values of an option of integers, or its default. Not collective.
  subroutine tenon_options_get_integers_int32(name, values, prefix, ierr)
    character(len=*), intent(in) :: name
    integer(c_int32_t), allocatable, intent(out) :: values(:)
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    integer(c_int64_t) :: c_needed
    integer(c_int64_t), allocatable :: c_values(:)
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonOptionsGetIntegers(c_prefix, trim(name)//c_null_char, 0_c_int64_t, c_values, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_values(c_needed))
      tenon_code = TenonOptionsGetIntegers(c_prefix, trim(name)//c_null_char, int(c_needed, c_int64_t), &
        c_values, c_needed)
    end if
    if (tenon_code == TENON_SUCCESS) then
      allocate (values(c_needed))
      call give(c_values, values, 'values', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_options_get_integers_int32
  ! Returns the value of a real option, or its default. Not collective.
  subroutine tenon_options_get_real(name, value, prefix, ierr)
    character(len=*), intent(in) :: name
    real(c_double), intent(out) :: value
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    real(c_double) :: c_value
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonOptionsGetReal(c_prefix, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_options_get_real
  ! Returns the value of a text, choice or word, or its default. Not collective.
  subroutine tenon_options_get_string(name, value, prefix, ierr)
    character(len=*), intent(in) :: name
    character(len=:), allocatable, intent(out) :: value
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_value(:)
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonOptionsGetString(c_prefix, trim(name)//c_null_char, c_value, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_value(c_needed))
      tenon_code = TenonOptionsGetString(c_prefix, trim(name)//c_null_char, c_value, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_value, tenon_code, value)
    call finish(tenon_code, ierr)
  end subroutine tenon_options_get_string
  ! Returns whether an option was given by any source. Not collective.
  subroutine tenon_options_has(name, given, prefix, ierr)
    character(len=*), intent(in) :: name
    logical, intent(out) :: given
    character(len=*), intent(in), optional :: prefix
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_prefix
    integer(c_int) :: c_given
    if (present(prefix)) c_prefix = trim(prefix)//c_null_char
    tenon_code = TenonOptionsHas(c_prefix, trim(name)//c_null_char, c_given)
    if (tenon_code == TENON_SUCCESS) then
      given = c_given /= TENON_FALSE
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_options_has
  ! Returns the number of declared options, of all classes and the program. Not collective.
  subroutine tenon_options_get_declared_count(count, ierr)
    integer(c_int), intent(out) :: count
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_count
    tenon_code = TenonOptionsGetDeclaredCount(c_count)
    if (tenon_code == TENON_SUCCESS) then
      count = c_count
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_options_get_declared_count
  ! Returns a text of a declared option. Not collective.
  subroutine tenon_options_get_declared_text(index, which, text, ierr)
    integer(c_int), intent(in) :: index
    integer(c_int), intent(in) :: which
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_options_get_declared_text', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonOptionsGetDeclaredText(index - 1, which, c_text, &
      0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonOptionsGetDeclaredText(index - 1, which, c_text, int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_options_get_declared_text
  ! Prints the options that contain a word, with default, value and source. Not collective.
  subroutine tenon_options_help(word, ierr)
    character(len=*), intent(in), optional :: word
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_word
    if (present(word)) c_word = trim(word)//c_null_char
    tenon_code = TenonOptionsHelp(c_word)
    call finish(tenon_code, ierr)
  end subroutine tenon_options_help
  ! Writes a file as a whole, or leaves what was there. Not collective.
  subroutine tenon_write_file(path, text, ierr)
    character(len=*), intent(in) :: path
    character(len=*), intent(in) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_length
    c_length = len(text)
    tenon_code = TenonWriteFile(trim(path)//c_null_char, text, int(c_length, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_write_file
  subroutine tenon_partition_create_f08(comm, extents, partition, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(in) :: extents(:)
    type(tenon_partition), intent(out) :: partition
    integer(c_int), intent(out), optional :: ierr
    call tenon_partition_create_mpi(comm%MPI_VAL, extents, partition, ierr)
  end subroutine tenon_partition_create_f08
  ! Creates a process grid of the ranks 0, 1, ... in order. Collective on comm.
  subroutine tenon_partition_create_mpi(comm, extents, partition, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(in) :: extents(:)
    type(tenon_partition), intent(out) :: partition
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_axes
    c_axes = size(extents)
    tenon_code = TenonPartitionCreate(comm, c_axes, extents, partition%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_partition_create_mpi
  subroutine tenon_partition_create_from_ranks_f08(comm, extents, ranks, partition, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(in) :: extents(:)
    integer(c_int), intent(in) :: ranks(:)
    type(tenon_partition), intent(out) :: partition
    integer(c_int), intent(out), optional :: ierr
    call tenon_partition_create_from_ranks_mpi(comm%MPI_VAL, extents, ranks, partition, ierr)
  end subroutine tenon_partition_create_from_ranks_f08
  ! Creates a process grid of given ranks in given order. Collective on comm.
  subroutine tenon_partition_create_from_ranks_mpi(comm, extents, ranks, partition, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(in) :: extents(:)
    integer(c_int), intent(in) :: ranks(:)
    type(tenon_partition), intent(out) :: partition
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_axes
    tenon_code = TENON_SUCCESS
    c_axes = size(extents)
    call check_length(tenon_code, 'tenon_partition_create_from_ranks', 'ranks', size(ranks), product(extents))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPartitionCreateFromRanks(comm, c_axes, extents, ranks, &
      partition%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_partition_create_from_ranks_mpi
  subroutine tenon_partition_create_placed_int64_f08(comm, axes, levels, matrix, partition, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(in) :: axes
    integer(c_int), intent(in) :: levels
    integer(c_int64_t), intent(in) :: matrix(:)
    type(tenon_partition), intent(out) :: partition
    integer(c_int), intent(out), optional :: ierr
    call tenon_partition_create_placed_int64_mpi(comm%MPI_VAL, axes, levels, matrix, partition, ierr)
  end subroutine tenon_partition_create_placed_int64_f08
  ! Creates a process grid placed on the levels of a machine. Collective on comm.
  subroutine tenon_partition_create_placed_int64_mpi(comm, axes, levels, matrix, partition, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(in) :: axes
    integer(c_int), intent(in) :: levels
    integer(c_int64_t), intent(in) :: matrix(:)
    type(tenon_partition), intent(out) :: partition
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_length(tenon_code, 'tenon_partition_create_placed', 'matrix', size(matrix), axes * levels)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPartitionCreatePlaced(comm, axes, levels, &
      int(matrix, c_int64_t), partition%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_partition_create_placed_int64_mpi
  subroutine tenon_partition_create_placed_int32_f08(comm, axes, levels, matrix, partition, ierr)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(in) :: axes
    integer(c_int), intent(in) :: levels
    integer(c_int32_t), intent(in) :: matrix(:)
    type(tenon_partition), intent(out) :: partition
    integer(c_int), intent(out), optional :: ierr
    call tenon_partition_create_placed_int32_mpi(comm%MPI_VAL, axes, levels, matrix, partition, ierr)
  end subroutine tenon_partition_create_placed_int32_f08
  ! Creates a process grid placed on the levels of a machine. Collective on comm.
  subroutine tenon_partition_create_placed_int32_mpi(comm, axes, levels, matrix, partition, ierr)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(in) :: axes
    integer(c_int), intent(in) :: levels
    integer(c_int32_t), intent(in) :: matrix(:)
    type(tenon_partition), intent(out) :: partition
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_length(tenon_code, 'tenon_partition_create_placed', 'matrix', size(matrix), axes * levels)
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPartitionCreatePlaced(comm, axes, levels, &
      int(matrix, c_int64_t), partition%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_partition_create_placed_int32_mpi
  ! Returns the number of grid axes. Not collective.
  subroutine tenon_partition_get_axes(partition, axes, ierr)
    type(tenon_partition), intent(in) :: partition
    integer(c_int), intent(out) :: axes
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_axes
    tenon_code = TenonPartitionGetAxes(partition%handle, c_axes)
    if (tenon_code == TENON_SUCCESS) then
      axes = c_axes
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_partition_get_axes
  ! Returns the number of processes along each axis. Not collective.
  subroutine tenon_partition_get_extents(partition, extents, ierr)
    type(tenon_partition), intent(in) :: partition
    integer(c_int), intent(out) :: extents(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int), allocatable :: c_extents(:)
    tenon_code = TENON_SUCCESS
    call partition_axes(partition%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_partition_get_extents', 'extents', size(extents), c_extent)
    allocate (c_extents(size(extents)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPartitionGetExtents(partition%handle, c_extents)
    if (tenon_code == TENON_SUCCESS) then
      extents = c_extents
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_partition_get_extents
  ! Returns the coordinates of this rank in the grid. Not collective.
  subroutine tenon_partition_get_coordinates(partition, coordinates, ierr)
    type(tenon_partition), intent(in) :: partition
    integer(c_int), intent(out) :: coordinates(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int) :: c_extent
    integer(c_int), allocatable :: c_coordinates(:)
    tenon_code = TENON_SUCCESS
    call partition_axes(partition%handle, tenon_code, c_extent)
    call check_length(tenon_code, 'tenon_partition_get_coordinates', 'coordinates', size(coordinates), &
      c_extent)
    allocate (c_coordinates(size(coordinates)))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPartitionGetCoordinates(partition%handle, &
      c_coordinates)
    if (tenon_code == TENON_SUCCESS) then
      coordinates = c_coordinates
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_partition_get_coordinates
  subroutine tenon_partition_get_axis_comm_f08(partition, axis, comm, ierr)
    type(tenon_partition), intent(in) :: partition
    integer(c_int), intent(in) :: axis
    type(MPI_Comm), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    call tenon_partition_get_axis_comm_mpi(partition, axis, comm%MPI_VAL, ierr)
  end subroutine tenon_partition_get_axis_comm_f08
  ! Returns the communicator along one axis. Collective on the partition.
  subroutine tenon_partition_get_axis_comm_mpi(partition, axis, comm, ierr)
    type(tenon_partition), intent(in) :: partition
    integer(c_int), intent(in) :: axis
    integer(c_int), intent(out) :: comm
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPartitionGetAxisComm(partition%handle, axis, comm)
    call finish(tenon_code, ierr)
  end subroutine tenon_partition_get_axis_comm_mpi
  ! Sets the CUDA stream on which kernels of the communicator run. Not collective.
  subroutine tenon_partition_set_stream(partition, stream, ierr)
    type(tenon_partition), intent(in) :: partition
    type(c_ptr), intent(in), optional :: stream
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_stream
    c_stream = c_null_ptr
    if (present(stream)) c_stream = stream
    tenon_code = TenonPartitionSetStream(partition%handle, c_stream)
    call finish(tenon_code, ierr)
  end subroutine tenon_partition_set_stream
  ! Lets kernels of the communicator run on a stream of the library again. Not collective.
  subroutine tenon_partition_reset_stream(partition, ierr)
    type(tenon_partition), intent(in) :: partition
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPartitionResetStream(partition%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_partition_reset_stream
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_partition_destroy(partition, ierr)
    type(tenon_partition), intent(inout) :: partition
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPartitionDestroy(partition%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_partition_destroy
  ! Creates a plan for a network of layers. Local; call on all ranks.
  subroutine tenon_plan_create_int64(network, batch, plan, ierr)
    type(tenon_layer), intent(in) :: network
    integer(c_int64_t), intent(in) :: batch
    type(tenon_plan), intent(out) :: plan
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanCreate(network%handle, int(batch, c_int64_t), plan%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_create_int64
  ! Creates a plan for a network of layers. Local; call on all ranks.
  subroutine tenon_plan_create_int32(network, batch, plan, ierr)
    type(tenon_layer), intent(in) :: network
    integer(c_int32_t), intent(in) :: batch
    type(tenon_plan), intent(out) :: plan
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanCreate(network%handle, int(batch, c_int64_t), plan%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_create_int32
  ! Sets the layout of the input, which the plan does not choose then. Local; call on all ranks.
  subroutine tenon_plan_set_input(plan, layout, ierr)
    type(tenon_plan), intent(in) :: plan
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanSetInput(plan%handle, layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_set_input
  ! Sets the layout of one of several inputs, as TenonPlanSetInput() does of the only one. Local; call on all
  ! ranks.
  subroutine tenon_plan_set_input_at(plan, input, layout, ierr)
    type(tenon_plan), intent(in) :: plan
    integer(c_int), intent(in) :: input
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_plan_set_input_at', 'input', int(input, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPlanSetInputAt(plan%handle, input - 1, layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_set_input_at
  ! Sets the layout of the output, which the plan does not choose then. Local; call on all ranks.
  subroutine tenon_plan_set_output(plan, layout, ierr)
    type(tenon_plan), intent(in) :: plan
    type(tenon_layout), intent(in) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanSetOutput(plan%handle, layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_set_output
  ! Sets the machine that the processes run on. Local; call on all ranks.
  subroutine tenon_plan_set_machine(plan, machine, ierr)
    type(tenon_plan), intent(in) :: plan
    type(tenon_machine), intent(in) :: machine
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanSetMachine(plan%handle, machine%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_set_machine
  ! Fixes the word of a layer. Local; call on all ranks.
  subroutine tenon_plan_fix(plan, layer, word, ierr)
    type(tenon_plan), intent(in) :: plan
    character(len=*), intent(in) :: layer
    character(len=*), intent(in) :: word
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanFix(plan%handle, trim(layer)//c_null_char, trim(word)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_fix
  ! Finds the plan that takes the least time. Not collective.
  subroutine tenon_plan_search(plan, ierr)
    type(tenon_plan), intent(in) :: plan
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanSearch(plan%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_search
  ! Sets the network up as planned. Collective on the network.
  subroutine tenon_plan_set_up(plan, ierr)
    type(tenon_plan), intent(in) :: plan
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanSetUp(plan%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_set_up
  ! Writes the plan to a file. Collective on the network.
  subroutine tenon_plan_save(plan, path, ierr)
    type(tenon_plan), intent(in) :: plan
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanSave(plan%handle, trim(path)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_save
  ! Takes the plan from a file in place of a search. Collective on the network.
  subroutine tenon_plan_load(plan, path, ierr)
    type(tenon_plan), intent(in) :: plan
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanLoad(plan%handle, trim(path)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_load
  ! Returns a number of the plan, or of one of its layers. Not collective.
  subroutine tenon_plan_get_number(plan, name, value, layer, ierr)
    type(tenon_plan), intent(in) :: plan
    character(len=*), intent(in) :: name
    real(c_double), intent(out) :: value
    character(len=*), intent(in), optional :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    character(len=:), allocatable :: c_layer
    real(c_double) :: c_value
    if (present(layer)) c_layer = trim(layer)//c_null_char
    tenon_code = TenonPlanGetNumber(plan%handle, c_layer, trim(name)//c_null_char, c_value)
    if (tenon_code == TENON_SUCCESS) then
      value = c_value
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_get_number
  ! Returns the name of a planned layer. Not collective.
  subroutine tenon_plan_get_layer_name_int64(plan, index, name, ierr)
    type(tenon_plan), intent(in) :: plan
    integer(c_int64_t), intent(in) :: index
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_plan_get_layer_name', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPlanGetLayerName(plan%handle, &
      int(index - 1, c_int64_t), c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonPlanGetLayerName(plan%handle, int(index - 1, c_int64_t), c_name, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_get_layer_name_int64
  ! Returns the name of a planned layer. Not collective.
  subroutine tenon_plan_get_layer_name_int32(plan, index, name, ierr)
    type(tenon_plan), intent(in) :: plan
    integer(c_int32_t), intent(in) :: index
    character(len=:), allocatable, intent(out) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_name(:)
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_plan_get_layer_name', 'index', int(index, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPlanGetLayerName(plan%handle, &
      int(index - 1, c_int64_t), c_name, 0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_name(c_needed))
      tenon_code = TenonPlanGetLayerName(plan%handle, int(index - 1, c_int64_t), c_name, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_name, tenon_code, name)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_get_layer_name_int32
  ! Returns the word of a layer, or the best other one. Not collective.
  subroutine tenon_plan_get_text(plan, layer, name, text, ierr)
    type(tenon_plan), intent(in) :: plan
    character(len=*), intent(in) :: layer
    character(len=*), intent(in) :: name
    character(len=:), allocatable, intent(out) :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_needed
    character(kind=c_char), allocatable :: c_text(:)
    tenon_code = TenonPlanGetText(plan%handle, trim(layer)//c_null_char, trim(name)//c_null_char, c_text, &
      0_c_int64_t, c_needed)
    if (tenon_code == TENON_SUCCESS) then
      allocate (c_text(c_needed))
      tenon_code = TenonPlanGetText(plan%handle, trim(layer)//c_null_char, trim(name)//c_null_char, c_text, &
        int(c_needed, c_int64_t), c_needed)
    end if
    call give_text(c_text, tenon_code, text)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_get_text
  ! Prints predicted beside measured times, messages and bytes. Collective on the network.
  subroutine tenon_plan_report(plan, ierr)
    type(tenon_plan), intent(in) :: plan
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanReport(plan%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_report
  ! Returns the rates that explain best what TenonPlanReport() shows. Collective on the network.
  subroutine tenon_plan_calibrate(plan, latency, bandwidth, flops, ierr)
    type(tenon_plan), intent(in) :: plan
    real(c_double), intent(out), optional :: latency
    real(c_double), intent(out), optional :: bandwidth
    real(c_double), intent(out), optional :: flops
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_latency
    real(c_double) :: c_bandwidth
    real(c_double) :: c_flops
    tenon_code = TenonPlanCalibrate(plan%handle, c_latency, c_bandwidth, c_flops)
    if (tenon_code == TENON_SUCCESS) then
      if (present(latency)) latency = c_latency
      if (present(bandwidth)) bandwidth = c_bandwidth
      if (present(flops)) flops = c_flops
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_calibrate
  ! Takes the rates that best explain what was measured of another plan. Collective on the network of that
  ! plan.
  subroutine tenon_plan_set_rates_from(plan, measured, ierr)
    type(tenon_plan), intent(in) :: plan
    type(tenon_plan), intent(in) :: measured
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanSetRatesFrom(plan%handle, measured%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_set_rates_from
  ! Returns what is run: the network, followed by redistribution where needed. Not collective.
  subroutine tenon_plan_get_layer(plan, layer, ierr)
    type(tenon_plan), intent(in) :: plan
    type(tenon_layer), intent(out) :: layer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanGetLayer(plan%handle, layer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_get_layer
  ! Returns the layout of the input. Not collective.
  subroutine tenon_plan_get_input_layout(plan, layout, ierr)
    type(tenon_plan), intent(in) :: plan
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanGetInputLayout(plan%handle, layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_get_input_layout
  ! Returns the layout of one of several inputs. Not collective.
  subroutine tenon_plan_get_input_layout_at(plan, input, layout, ierr)
    type(tenon_plan), intent(in) :: plan
    integer(c_int), intent(in) :: input
    type(tenon_layout), intent(out) :: layout
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TENON_SUCCESS
    call check_counted(tenon_code, 'tenon_plan_get_input_layout_at', 'input', int(input, c_int64_t))
    if (tenon_code == TENON_SUCCESS) tenon_code = TenonPlanGetInputLayoutAt(plan%handle, input - 1, &
      layout%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_get_input_layout_at
  ! Evaluates the network. Collective on the network; see TenonLayerApply().
  subroutine tenon_plan_apply(plan, x, y, ierr)
    type(tenon_plan), intent(in) :: plan
    type(tenon_dtensor), intent(in) :: x
    type(tenon_dtensor), intent(in) :: y
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanApply(plan%handle, x%handle, y%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_apply
  ! Evaluates the tangent of the network. Collective on the network; see TenonLayerApplyTangent().
  subroutine tenon_plan_apply_tangent(plan, dy, dx, ierr)
    type(tenon_plan), intent(in) :: plan
    type(tenon_dtensor), intent(in) :: dy
    type(tenon_dtensor), intent(in), optional :: dx
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_dx
    c_dx = c_null_ptr
    if (present(dx)) c_dx = dx%handle
    tenon_code = TenonPlanApplyTangent(plan%handle, c_dx, dy%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_apply_tangent
  ! Evaluates the adjoint of the network. Collective on the network; see TenonLayerApplyAdjoint().
  subroutine tenon_plan_apply_adjoint(plan, dy, dx, ierr)
    type(tenon_plan), intent(in) :: plan
    type(tenon_dtensor), intent(in) :: dy
    type(tenon_dtensor), intent(in), optional :: dx
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    type(c_ptr) :: c_dx
    c_dx = c_null_ptr
    if (present(dx)) c_dx = dx%handle
    tenon_code = TenonPlanApplyAdjoint(plan%handle, dy%handle, c_dx)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_apply_adjoint
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_plan_destroy(plan, ierr)
    type(tenon_plan), intent(inout) :: plan
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonPlanDestroy(plan%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_plan_destroy
  ! Creates a trainer. Collective on the network.
  subroutine tenon_trainer_create(network, loss, optimizer, trainer, ierr)
    type(tenon_layer), intent(in) :: network
    type(tenon_layer), intent(in) :: loss
    type(tenon_optimizer), intent(in) :: optimizer
    type(tenon_trainer), intent(out) :: trainer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonTrainerCreate(network%handle, loss%handle, optimizer%handle, trainer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_trainer_create
  ! Sets the dataset to train with. Local; call on all ranks.
  subroutine tenon_trainer_set_dataset(trainer, dataset, ierr)
    type(tenon_trainer), intent(in) :: trainer
    type(tenon_dataset), intent(in) :: dataset
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonTrainerSetDataset(trainer%handle, dataset%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_trainer_set_dataset
  ! Sets the dataset to validate with. Local; call on all ranks.
  subroutine tenon_trainer_set_validation(trainer, dataset, ierr)
    type(tenon_trainer), intent(in) :: trainer
    type(tenon_dataset), intent(in) :: dataset
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonTrainerSetValidation(trainer%handle, dataset%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_trainer_set_validation
  ! Sets the checkpoint to write. Local; call on all ranks.
  subroutine tenon_trainer_set_checkpoint(trainer, checkpoint, folder, ierr)
    type(tenon_trainer), intent(in) :: trainer
    type(tenon_checkpoint), intent(in) :: checkpoint
    character(len=*), intent(in) :: folder
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonTrainerSetCheckpoint(trainer%handle, checkpoint%handle, trim(folder)//c_null_char)
    call finish(tenon_code, ierr)
  end subroutine tenon_trainer_set_checkpoint
  ! Trains until so many epochs are complete, or until it is stopped. Collective on the network.
  subroutine tenon_trainer_run_int64(trainer, epochs, ierr)
    type(tenon_trainer), intent(in) :: trainer
    integer(c_int64_t), intent(in) :: epochs
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonTrainerRun(trainer%handle, int(epochs, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_trainer_run_int64
  ! Trains until so many epochs are complete, or until it is stopped. Collective on the network.
  subroutine tenon_trainer_run_int32(trainer, epochs, ierr)
    type(tenon_trainer), intent(in) :: trainer
    integer(c_int32_t), intent(in) :: epochs
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonTrainerRun(trainer%handle, int(epochs, c_int64_t))
    call finish(tenon_code, ierr)
  end subroutine tenon_trainer_run_int32
  ! Ends a run after the present step. Local.
  subroutine tenon_trainer_stop(trainer, ierr)
    type(tenon_trainer), intent(in) :: trainer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonTrainerStop(trainer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_trainer_stop
  ! Returns how far training has come. Not collective.
  subroutine tenon_trainer_get_progress(trainer, epochs, steps, ierr)
    type(tenon_trainer), intent(in) :: trainer
    integer(c_int64_t), intent(out), optional :: epochs
    integer(c_int64_t), intent(out), optional :: steps
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    integer(c_int64_t) :: c_epochs
    integer(c_int64_t) :: c_steps
    tenon_code = TenonTrainerGetProgress(trainer%handle, c_epochs, c_steps)
    if (tenon_code == TENON_SUCCESS) then
      if (present(epochs)) call give(c_epochs, epochs, 'epochs', tenon_code)
      if (present(steps)) call give(c_steps, steps, 'steps', tenon_code)
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_trainer_get_progress
  ! Returns losses, NaN where there are none yet. Not collective.
  subroutine tenon_trainer_get_losses(trainer, step, epoch, validation, ierr)
    type(tenon_trainer), intent(in) :: trainer
    real(c_double), intent(out), optional :: step
    real(c_double), intent(out), optional :: epoch
    real(c_double), intent(out), optional :: validation
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    real(c_double) :: c_step
    real(c_double) :: c_epoch
    real(c_double) :: c_validation
    tenon_code = TenonTrainerGetLosses(trainer%handle, c_step, c_epoch, c_validation)
    if (tenon_code == TENON_SUCCESS) then
      if (present(step)) step = c_step
      if (present(epoch)) epoch = c_epoch
      if (present(validation)) validation = c_validation
    end if
    call finish(tenon_code, ierr)
  end subroutine tenon_trainer_get_losses
  ! Releases a reference and sets the handle to NULL. Not collective.
  subroutine tenon_trainer_destroy(trainer, ierr)
    type(tenon_trainer), intent(inout) :: trainer
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: tenon_code
    tenon_code = TenonTrainerDestroy(trainer%handle)
    call finish(tenon_code, ierr)
  end subroutine tenon_trainer_destroy
end module tenon_calls
