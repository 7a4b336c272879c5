! SPDX-License-Identifier: BSD-2-Clause
! The components of a staggered field as the channels of a tensor: arrays with extents and ghost cells of their own,
! and modes of their own at walls, in the order of Fortran.
program components
  use mpi_f08, only: MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size, MPI_COMM_WORLD
  use tenon
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: nx = 6, ny = 3 ! of each rank: slabs in y
  type(tenon_layout) :: layout, on_faces, in_cells, wide
  type(tenon_dtensor) :: x, halos
  type(tenon_layer) :: pad, means, mlp
  real(real64), target :: u(0:nx + 1, 0:ny + 1), w(-1:nx + 2, 0:ny + 2), other(nx, ny)
  real(real64), pointer :: p(:, :, :, :)
  character(:), allocatable :: text
  integer, allocatable :: widths(:)
  integer :: rank, ranks, i, j, ierr, shape(4), order(5)
  real(real64) :: colatitude(5), weight(5)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call tenon_initialize()
  call tenon_push_error_handler(tenon_return_error_handler)
  call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, rank*ny + 1, 1, 1], [nx, (rank + 1)*ny, 2, 1], layout)
  call tenon_dtensor_create(layout, TENON_FLOAT64, x)
  u = 1
  w = 2
  do j = 1, ny
    do i = 1, nx
      u(i, j) = 10*i + j
      w(i, j) = -(10*i + j)
    end do
  end do
  call tenon_place_components(x, u(1:nx, 1:ny), u, w(1:nx, 1:ny), w)
  call tenon_dtensor_gather_arrays(x)
  call tenon_get_array(x, p)
  do j = 1, ny
    do i = 1, nx
      if (nint(p(i, rank*ny + j, 1, 1)) /= 10*i + j) error stop 'u was not gathered'
      if (nint(p(i, rank*ny + j, 2, 1)) /= -(10*i + j)) error stop 'w was not gathered'
    end do
  end do
  p = 3
  call tenon_restore_array(x, p)
  call tenon_dtensor_scatter_arrays(x)
  if (any(nint(u(1:nx, 1:ny)) /= 3) .or. any(nint(w(1:nx, 1:ny)) /= 3)) error stop 'a component was not scattered'
  if (nint(sum(w)) /= 2*(size(w) - nx*ny) + 3*nx*ny) error stop 'a ghost cell was written'

  call forms_of_arrays()
  call fields_on_a_mesh()

  call tenon_place_components(x, u(1:nx, 1:ny), u, other(1:nx - 1, 1:ny), other, ierr=ierr)
  call expect(TENON_ERR_SHAPE, 'component 2: dimension 1: the array has 5 elements, but this rank''s block has 6')
  call tenon_place_components(x, u(1:nx, 1:ny), u, ierr=ierr)
  call expect(TENON_ERR_SHAPE, '1 components were passed, but this rank has 2 channels')
  call tenon_place_components(x, u(1:nx, 1:ny), u, other, w, ierr=ierr)
  call expect(TENON_ERR_ARG, 'component 2: the interior is no section of `array`')
  ! Dimensions are those of Fortran in the messages of halos too: x is 1, y 2, the channel 3.
  call tenon_layout_create_like(layout, wide)
  call tenon_layout_set_halo(wide, 1, 1, 1, TENON_BOUNDARY_VALUES, TENON_BOUNDARY_VALUES)
  call tenon_layout_set_up(wide)
  call tenon_dtensor_create(wide, TENON_FLOAT64, halos)
  call tenon_place_components(halos, u(1:nx, 1:ny), u, other, other, ierr=ierr)
  call expect(TENON_ERR_SHAPE, 'component 2: the layout needs 1 + 1 halo elements (low + high) in dimension 1, '// &
    'but the array has 0 + 0 ghost cells')
  call tenon_destroy(halos)
  call tenon_destroy(wide)

  ! x has a period, y walls; channel 2 is odd about them.
  call tenon_layer_create_type(MPI_COMM_WORLD, 'conv', pad)
  call tenon_set_integers(pad, 'kernel', [3, 3])
  call tenon_layer_set_boundary(pad, [TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_SYMMETRIC])
  call tenon_layer_set_channel_boundary(pad, 2, [TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_ODD])
  call tenon_layer_set_channel_boundary(pad, 0, [TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_ODD], ierr=ierr)
  call expect(TENON_ERR_ARG, 'channel is 0; it is counted from 1 in Fortran')
  call tenon_get_text(pad, 'boundary', text)
  if (text /= 'periodic/periodic,symmetric/symmetric;1=periodic/periodic,odd/odd') error stop 'other modes: '//text
  call tenon_set_text(pad, 'boundary', 'periodic,symmetric; 1=periodic,odd')
  call tenon_get_text(pad, 'boundary', text)
  if (text /= 'periodic,symmetric; 1=periodic,odd') error stop 'other lists: '//text

  ! x has 7 faces of 6 cells, y a period with 4 of each: lists by dimension are x first, texts too.
  call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 4*rank + 1, 1, 1], [7, 4*rank + 4, 1, 1], on_faces)
  call tenon_layer_create_collocate(MPI_COMM_WORLD, [TENON_FACES_ALL, TENON_FACES_LOWER], means)
  call tenon_get_text(means, 'faces', text)
  if (text /= 'all,lower') error stop 'other faces: '//text
  call tenon_set_text(means, 'faces', 'all,lower')
  call tenon_layer_set_boundary(means, [TENON_BOUNDARY_NONE, TENON_BOUNDARY_PERIODIC])
  call tenon_layer_set_up(means, on_faces)
  call tenon_layer_get_output_layout(means, 1, in_cells)
  call tenon_layout_get_shape(in_cells, shape)
  if (any(shape /= [6, 4*ranks, 1, 1])) error stop 'the means are in other cells'
  ! widths are no list by dimension: from the input to the output, by either call.
  call tenon_layer_create_column_mlp(MPI_COMM_WORLD, [8, 32, 4], mlp)
  call tenon_get_integers(mlp, 'widths', widths)
  if (any(widths /= [8, 32, 4])) error stop 'other widths'

  ! The length of a list that a call returns is that of the array.
  call tenon_sphere_get_rows('poles', colatitude, weight)
  if (any(abs(weight - [1.0d0/15, 8.0d0/15, 0.8d0, 8.0d0/15, 1.0d0/15]) > 1d-14)) &
    error stop 'other weights'
  if (abs(colatitude(5) - acos(-1.0d0)) > 1d-14) error stop 'other rows'
  call tenon_sphere_get_orders(order)
  if (any(order /= [0, 4, 1, 3, 2])) error stop 'other orders'

  call tenon_destroy(mlp)
  call tenon_destroy(means)
  call tenon_destroy(in_cells)
  call tenon_destroy(on_faces)
  call tenon_destroy(pad)
  call tenon_destroy(x)
  call tenon_destroy(layout)
  call tenon_finalize()
  call MPI_Finalize()
contains
  ! The same arrays by the addresses of their first owned elements; lists have the order of Fortran in each form.
  subroutine forms_of_arrays()
    integer(int64), parameter :: strides(8) = [1, nx + 2, 0, 0, 1, nx + 4, 0, 0]
    integer(int64), parameter :: low(8) = [1, 1, 0, 0, 2, 1, 0, 0], high(8) = [1, 1, 0, 0, 2, 2, 0, 0]
    u = 1
    w = 2
    u(1:nx, 1:ny) = 5
    w(1:nx, 1:ny) = 6
    call tenon_dtensor_place_arrays(x, 3, [c_loc(u(1, 1)), c_loc(w(1, 1))], 2, strides, low, high, [size(u, kind=int64), &
      size(w, kind=int64)])
    call tenon_dtensor_gather_arrays(x)
    call tenon_get_array(x, p)
    if (any(nint(p(:, :, 1, 1)) /= 5) .or. any(nint(p(:, :, 2, 1)) /= 6)) error stop 'an array of its own form is another one'
    p = 7
    call tenon_restore_array(x, p)
    call tenon_dtensor_scatter_arrays(x)
    if (any(nint(u(1:nx, 1:ny)) /= 7) .or. any(nint(w(1:nx, 1:ny)) /= 7)) error stop 'an array was not scattered'
    if (nint(sum(w)) /= 2*(size(w) - nx*ny) + 7*nx*ny) error stop 'a ghost cell of an array was written'
    call tenon_dtensor_place_arrays_read(x, 3, [c_loc(other), c_loc(other)], 1)
    call tenon_dtensor_place_arrays(x, 3, [c_loc(u(1, 1)), c_loc(w(1, 1))], 2, strides(1:4), ierr=ierr)
    call expect(TENON_ERR_SHAPE, 'strides has 4 elements, but needs 8')
    call tenon_dtensor_place_arrays(x, 3, [c_loc(u(1, 1)), c_loc(w(1, 1))], 3, ierr=ierr)
    call expect(TENON_ERR_ARG, 'forms is 3')
  end subroutine forms_of_arrays

  ! T and S of a mesh, each (levels, nodes), as the tensor (levels, variables, nodes): ghosts behind the nodes.
  subroutine fields_on_a_mesh()
    integer, parameter :: levels = 3, nodes = 4
    type(tenon_layout) :: mesh
    type(tenon_dtensor) :: both
    real(real64), target :: temperature(levels, nodes + 1), salinity(levels, nodes + 1)
    real(real64), pointer :: values(:, :, :)
    integer :: n
    call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 1, rank*nodes + 1], [levels, 2, (rank + 1)*nodes], mesh)
    call tenon_dtensor_create(mesh, TENON_FLOAT64, both)
    do n = 1, nodes + 1
      temperature(:, n) = [(10*n + i, i=1, levels)]
      salinity(:, n) = -temperature(:, n)
    end do
    call tenon_place_components(both, temperature(:, 1:nodes), temperature, salinity(:, 1:nodes), salinity)
    call tenon_dtensor_gather_arrays(both)
    call tenon_get_array(both, values)
    do n = 1, nodes
      if (any(nint(values(:, 1, rank*nodes + n)) /= [(10*n + i, i=1, levels)])) error stop 'T was not gathered'
      if (any(nint(values(:, 2, rank*nodes + n)) /= [(-10*n - i, i=1, levels)])) error stop 'S was not gathered'
    end do
    call tenon_restore_array(both, values)
    call tenon_place_components(both, temperature(:, 1:nodes), temperature, salinity(:, 1:nodes - 1), salinity, ierr=ierr)
    call expect(TENON_ERR_SHAPE, 'component 2: dimension 3: the array has 3 elements, but this rank''s block has 4')
    call tenon_destroy(both)
    call tenon_destroy(mesh)
  end subroutine fields_on_a_mesh

  subroutine expect(code, part)
    integer, intent(in) :: code
    character(len=*), intent(in) :: part
    character(len=:), allocatable :: message
    call tenon_get_last_error(message)
    if (ierr == code .and. index(message, part) > 0) return
    print *, 'expected ', tenon_error_name(code), ': ', part
    print *, 'got      ', tenon_error_name(ierr), ': ', message
    error stop
  end subroutine expect
end program components
