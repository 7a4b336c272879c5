! SPDX-License-Identifier: BSD-2-Clause
! The conventions, with the module mpi: both sizes of integer, lists from 1 in the order of declaration, texts,
! optional arguments, communicators as integers, and options from the command line.
program first_steps
  use mpi
  use tenon
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer :: ierr, rank, ranks

  call outside_mpi
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call tenon_initialize(ierr=ierr)
  if (ierr /= TENON_SUCCESS) error stop 'not initialised'
  call options
  call boxes
  call layers
  call settings
  call values_of_a_checkpoint
  call objects
  call machines
  call tenon_finalize()
  call MPI_Finalize(ierr)
contains
  ! A communicator is not taken before MPI_Init.
  subroutine outside_mpi
    type(tenon_layer) :: layer
    call quietly(.true.)
    call tenon_initialize_with_comm(MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr == TENON_ERR_STATE, 'a communicator was taken outside MPI')
    call tenon_layer_create_type(MPI_COMM_WORLD, 'affine', layer, ierr)
    call expect(ierr == TENON_ERR_STATE, 'a layer was created outside MPI')
    call quietly(.false.)
  end subroutine outside_mpi

  ! The test passes -tenon_agree_timeout on the command line.
  subroutine options
    logical :: given
    integer :: length
    integer(int64) :: long
    integer, allocatable :: values(:)
    character(len=:), allocatable :: text
    call tenon_options_has('agree_timeout', given)
    call expect(given, 'the command line did not reach the library')
    call tenon_get_info('version', text)
    call expect(index(text, '.') > 0 .and. text == trim(text), 'the version is no text')
    call tenon_options_get_declared_count(length)
    call tenon_options_get_declared_text(1, TENON_OPTION_TEXT_KEY, text)
    call expect(length > 1 .and. len(text) > 0, 'the first option has no key')
    call tenon_options_declare('first_steps', 'cells', TENON_OPTION_INTEGERS, '3,4', 'numbers')
    call tenon_options_declare('first_steps', 'steps', TENON_OPTION_INT, '5000000000', 'a number')
    call tenon_options_get_integers('cells', values, prefix='-')
    call expect(size(values) == 2 .and. all(values == [3, 4]), 'the list is another one')
    call tenon_options_get_int('steps', long, prefix='-')
    call expect(long == 5000000000_int64, 'the number is another one')
    call quietly(.true.)
    call tenon_options_get_int('steps', length, prefix='-', ierr=ierr)
    call quietly(.false.)
    call expect(ierr == TENON_ERR_ARG, 'a number was cut off')
  end subroutine options

  ! (x, y): x is dimension 1, which C has last.
  subroutine boxes
    type(tenon_partition) :: line
    type(tenon_layout) :: layout, wide
    type(tenon_dtensor) :: x
    integer :: low(2), high(2), extents(2), few(1)
    integer(int64) :: elements
    character(len=:), allocatable :: properties
    call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 3*rank + 1], [5, 3*rank + 3], layout, shape=[5, 3*ranks])
    call tenon_layout_get_shape(layout, extents)
    call expect(all(extents == [5, 3*ranks]), 'the shape is another one')
    call tenon_layout_get_box(layout, low, high)
    call expect(all(low == [1, 3*rank + 1]) .and. all(high == [5, 3*rank + 3]), 'the box is another one')
    call tenon_layout_get_properties(layout, properties)
    call expect(properties == 'S0,S1', 'the properties have other numbers than in C')
    call quietly(.true.)
    call tenon_layout_get_box(layout, few, high, ierr)
    call quietly(.false.)
    call expect(ierr == TENON_ERR_SHAPE, 'a list that is too short was filled')

    call tenon_layout_create_like(layout, wide)
    call tenon_layout_set_halo(wide, 1, 1_int64, 2_int64, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC)
    call tenon_layout_set_up(wide)
    call tenon_layout_get_box(wide, low, high)
    call expect(all(low == [0, 3*rank + 1]) .and. all(high == [7, 3*rank + 3]), 'the halo is in another dimension')
    call tenon_dtensor_create(wide, TENON_INT64, x)
    call tenon_dtensor_get_local_size(x, elements)
    call expect(elements == 8*3, 'the size is another one')
    call tenon_partition_create(MPI_COMM_WORLD, [ranks], line)
    call tenon_destroy(layout)
    call tenon_layout_create_sharded(line, [4, 6], 'S1', layout)
    call tenon_layout_get_box(layout, low, high)
    call expect(ranks == 1 .or. high(1) - low(1) < 3, 'S1 does not split the first dimension')
    call tenon_destroy(x)
    call tenon_destroy(wide)
    call tenon_destroy(layout)
    call tenon_destroy(line)
    call expect(.not. c_associated_any(layout), 'a destroyed handle is not NULL')
  end subroutine boxes

  logical function c_associated_any(layout)
    use, intrinsic :: iso_c_binding, only: c_associated
    type(tenon_layout), intent(in) :: layout
    c_associated_any = c_associated(layout%handle)
  end function c_associated_any

  ! A graph: its nodes and inputs are counted from 1; an array of handles is C's.
  subroutine layers
    type(tenon_layer) :: graph, add, relu
    type(tenon_layout) :: layout(2)
    type(tenon_dtensor) :: x(2), y
    integer :: first, second
    character(:), allocatable :: text
    integer(int64), allocatable :: kernel(:)
    real(real64) :: largest
    call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [2*rank + 1], [2*rank + 2], layout(1))
    layout(2) = layout(1)
    call tenon_layer_create_graph(MPI_COMM_WORLD, graph)
    call tenon_set_integers(graph, 'input_count', [2])
    call tenon_layer_create_type(MPI_COMM_WORLD, 'add', add)
    call tenon_layer_create_type(MPI_COMM_WORLD, 'relu', relu)
    call tenon_layer_graph_add_node(graph, add, [-1, -2], first)
    call tenon_layer_graph_add_node(graph, relu, [first], second)
    call expect(first == 1 .and. second == 2, 'nodes are not counted from 1')
    call tenon_layer_set_data_type(graph, TENON_FLOAT64)
    call tenon_layer_set_up_many(graph, layout)
    call tenon_dtensor_create(layout(1), TENON_FLOAT64, x(1))
    call tenon_dtensor_create(layout(1), TENON_FLOAT64, x(2))
    call tenon_layer_create_output(graph, 1, y)
    call tenon_dtensor_fill_constant(x(1), 2.0_real64)
    call tenon_dtensor_fill_constant(x(2), 3.0_real64)
    call tenon_layer_apply_many(graph, x, [y])
    call tenon_dtensor_max_abs(y, largest)
    call expect(abs(largest - 5) < 1e-15_real64, 'the sum is another one')
    call tenon_destroy(add)
    call tenon_layer_create_type(MPI_COMM_WORLD, 'conv   ', add)
    call tenon_set_integers(add, 'kernel', [3, 5])
    call tenon_get_integers(add, 'kernel', kernel)
    call expect(all(kernel == [3, 5]), 'a setting by name has another order')
    call quietly(.true.)
    call tenon_layer_set_stride(add, [1, 2, 1], ierr)
    call quietly(.false.)
    call expect(ierr == TENON_ERR_SHAPE, 'three strides for two dimensions')
    call tenon_layer_set_stride(add, [1, 2])
    call tenon_get_integers(add, 'stride', kernel)
    call expect(all(kernel == [1, 2]), 'a setting by name has another order than its own call')
    call tenon_set_integers(add, 'stride', [3, 1])
    call tenon_get_integers(add, 'stride', kernel)
    call expect(all(kernel == [3, 1]), 'a setting by name has another order')
    call tenon_layer_set_boundary(add, [TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_ZERO])
    call tenon_get_text(add, 'boundary', text)
    call expect(text == 'periodic/periodic,zero/zero', 'a text by name has another order than its own call: '//text)
    call tenon_set_text(add, 'boundary', 'zero/none,reflect')
    call tenon_get_text(add, 'boundary', text)
    call expect(text == 'zero/none,reflect', 'a text by name has another order: '//text)
    call tenon_set_text(add, 'boundary', 'zero')
    call tenon_get_text(add, 'boundary', text)
    call expect(text == 'zero', 'a text for all dimensions is another one: '//text)
    call tenon_destroy(x(1))
    call tenon_destroy(x(2))
    call tenon_destroy(y)
    call tenon_destroy(graph)
    call tenon_destroy(add)
    call tenon_destroy(relu)
    call tenon_destroy(layout(1))
  end subroutine layers

  ! Settings by name have the order of the declaration: a kernel of 3 x 1 in (x, y) takes 2 from x alone, and
  ! the permutation (2, 1, 3, 4) swaps x and y.
  subroutine settings
    type(tenon_layer) :: pool, swap
    type(tenon_layout) :: layout, out
    integer, allocatable :: permutation(:)
    integer :: extents(4)
    call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 1, 1 + rank, 1], [6, 4, 1 + rank, 1], layout)
    call tenon_layer_create_type(MPI_COMM_WORLD, 'averagepooling', pool)
    call tenon_set_integers(pool, 'kernel', [3, 1])
    call tenon_set_integers(pool, 'stride', [1, 1])
    call tenon_layer_set_up(pool, layout)
    call tenon_layer_get_output_layout(pool, 1, out)
    call tenon_layout_get_shape(out, extents)
    call expect(all(extents == [4, 4, ranks, 1]), 'the kernel by name is not that of (x, y)')
    call tenon_destroy(out)
    ! Outputs are counted from 1.
    call quietly(.true.)
    call tenon_layer_get_output_layout(pool, 0, out, ierr)
    call expect(ierr == TENON_ERR_ARG, 'there is an output 0')
    call tenon_layer_get_output_layout(pool, 2, out, ierr)
    call expect(ierr == TENON_ERR_ARG, 'there is a second output')
    call quietly(.false.)
    call tenon_destroy(pool)
    call tenon_layer_create_type(MPI_COMM_WORLD, 'transpose', swap)
    call tenon_set_integers(swap, 'permutation', [2, 1, 3, 4])
    call tenon_get_integers(swap, 'permutation', permutation)
    call expect(all(permutation == [2, 1, 3, 4]), 'a permutation is another one')
    call tenon_layer_set_up(swap, layout)
    call tenon_layer_get_output_layout(swap, 1, out)
    call tenon_layout_get_shape(out, extents)
    call expect(all(extents == [4, 6, ranks, 1]), 'the permutation does not swap x and y')
    call tenon_destroy(out)
    call tenon_destroy(swap)
    call tenon_destroy(layout)
  end subroutine settings

  ! Values of a checkpoint have the names of the program, and are written as they are, also under names of settings
  ! of layers that have an entry for each dimension.
  subroutine values_of_a_checkpoint
    character(len=*), parameter :: path = 'fortran_first_steps.h5'
    type(tenon_checkpoint) :: checkpoint
    real(real64) :: time
    integer, allocatable :: epoch(:)
    character(len=:), allocatable :: text
    logical :: given
    integer :: unit
    call quietly(.true.)
    call tenon_checkpoint_create(MPI_COMM_WORLD, checkpoint, ierr)
    call quietly(.false.)
    if (ierr == TENON_ERR_SUPPORT) return ! this build has no HDF5
    call expect(ierr == TENON_SUCCESS, 'there is no checkpoint')
    call tenon_set_real(checkpoint, 'time', 0.5_real64)
    call tenon_set_integers(checkpoint, 'permutation', [7])
    call tenon_set_text(checkpoint, 'spacing', '1,2')
    call tenon_checkpoint_write(checkpoint, path)
    call tenon_destroy(checkpoint)
    call tenon_checkpoint_create(MPI_COMM_WORLD, checkpoint)
    call tenon_checkpoint_read(checkpoint, path)
    call tenon_get_real(checkpoint, 'time', time)
    call tenon_get_integers(checkpoint, 'permutation', epoch)
    call tenon_get_text(checkpoint, 'spacing', text)
    call expect(abs(time - 0.5_real64) < tiny(time) .and. all(epoch == [7]) .and. text == '1,2', 'a value is another one')
    call tenon_is_set(checkpoint, 'speed', given)
    call expect(.not. given, 'a value is there that was not set')
    call quietly(.true.)
    call tenon_get_real(checkpoint, 'speed', time, ierr)
    call quietly(.false.)
    call expect(ierr == TENON_ERR_ARG, 'a value that is not there was returned')
    call tenon_checkpoint_get_contents(path, .true., text)
    call expect(index(text, '"permutation":7,"spacing":"1,2","time":0.5') > 0, 'a value was turned: '//text)
    call tenon_destroy(checkpoint)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank == 0) then
      open (newunit=unit, file=path)
      close (unit, status='delete')
    end if
  end subroutine values_of_a_checkpoint

  subroutine objects
    type(tenon_partition) :: grid
    character(len=:), allocatable :: name
    integer :: comm, size, references, extents(2)
    call tenon_partition_create(MPI_COMM_WORLD, [ranks, 1], grid)
    call tenon_partition_get_extents(grid, extents)
    call expect(all(extents == [ranks, 1]), 'axes of a grid are in the order of C')
    call tenon_set_name(grid, 'solver   ')
    call tenon_get_name(grid, name)
    call expect(name == 'solver' .and. len(name) == 6, 'the name is another one')
    call tenon_get_class(grid, name)
    call expect(name == 'Partition', 'the class is another one')
    call tenon_get_comm(grid, comm)
    call MPI_Comm_size(comm, size, ierr)
    call expect(size == ranks, 'the communicator is another one')
    call tenon_get_references(grid, references)
    call expect(references == 1, 'a handle has more than one reference')
    call tenon_destroy(grid)
    call quietly(.true.)
    call tenon_destroy(grid, ierr)
    call quietly(.false.)
    call expect(ierr == TENON_SUCCESS, 'a NULL handle cannot be destroyed')
  end subroutine objects

  subroutine machines
    type(tenon_machine) :: machine
    character(len=:), allocatable :: name
    integer :: levels, links
    integer(int64) :: devices, size
    call tenon_machine_create('mine', [character(len=6) :: 'node', 'socket'], [3, 2], machine)
    call tenon_machine_get_counts(machine, levels, links, devices)
    call tenon_machine_get_level(machine, 2, name, size)
    call expect(levels == 2 .and. devices == 6 .and. name == 'socket' .and. size == 2, &
                'the machine is another one')
    call tenon_destroy(machine)
  end subroutine machines

  subroutine quietly(on)
    logical, intent(in) :: on
    if (on) then
      call tenon_push_error_handler(tenon_return_error_handler)
    else
      call tenon_pop_error_handler()
    end if
  end subroutine quietly

  subroutine expect(is_so, otherwise)
    logical, intent(in) :: is_so
    character(len=*), intent(in) :: otherwise
    if (is_so) return
    print *, otherwise
    error stop
  end subroutine expect
end program first_steps
