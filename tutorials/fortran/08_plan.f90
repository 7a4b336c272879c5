! SPDX-License-Identifier: BSD-2-Clause
! 08 Plan: a network beside a solver, each layer with the parallelism that suits it.
!
! What you learn: a plan chooses for each layer of a network how it is distributed. The solver's own decomposition of
! its field is given. The plan compares the time of layers in this decomposition with the time of redistribution to a
! faster one, and the program runs the result. The losses depend neither on the plan nor on the number of processes.
!
! A parallelization has a label for each axis of a process grid: n splits the batch, o the output channels, i the
! input channels, h the rows. With "input:h" a layer has the grid and the decomposition of the solver's field, whose
! grid has one axis. Parallelizations without "input:" are on a grid of the prime factors of the number of processes.
!
! A solver has eight waves cos(k x) exp(-r y) on a square, in blocks of rows, one block for each process. A network
! estimates r from the field: two convolutions with pooling, which have much data and few weights, and two affine
! layers, which have few data and many weights. It is trained by gradient descent.
!
!   mpiexec -n 4 fortran_08_plan
!   mpiexec -n 4 fortran_08_plan -view              # each layer: its parallelization, layouts, predicted costs
!   mpiexec -n 4 fortran_08_plan -report            # predicted beside measured times and messages
!   mpiexec -n 4 fortran_08_plan -save waves.json   # the plan as a file, for -load
program planned_network
  use mpi_f08
  use tenon
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: waves = 8, cells = 32, steps = 40
  type(tenon_layout) :: field, everywhere ! of the waves; of the estimates
  type(tenon_layer) :: network, loss
  type(tenon_plan) :: plan
  type(tenon_layer) :: planned ! the network as the plan runs it
  type(tenon_optimizer) :: optimizer
  type(tenon_dtensor) :: u, rates, estimate, value, one, cotangent
  logical :: view, report
  integer :: rank, processes

  call tenon_options_own_command_line()
  call tenon_options_declare('08_plan', 'view', TENON_OPTION_FLAG, 'false', 'print the plan of each layer')
  call tenon_options_declare('08_plan', 'report', TENON_OPTION_FLAG, 'false', &
    'print predicted beside measured times')
  call tenon_options_declare('08_plan', 'save', TENON_OPTION_STRING, '', 'file to write the plan to')
  call tenon_options_declare('08_plan', 'load', TENON_OPTION_STRING, '', &
    'file to read the plan from, in place of a search')
  call tenon_initialize('08 Plan: the parallelism of each layer beside a solver'//new_line('a'))
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, processes)
  call tenon_options_get_flag('view', view, prefix='-')
  call tenon_options_get_flag('report', report, prefix='-')
  call create_field()
  call create_network()
  call create_plan()
  if (view) call tenon_view(plan)
  call print_parallelizations()
  call create_training()
  if (report) call tenon_log_enable(.true.) ! what is measured is in the log
  call train()
  if (report) call tenon_plan_report(plan)
  call destroy()
  call tenon_finalize()
contains
  ! What wave n decays with.
  real(real64) function rate_of(n)
    integer, intent(in) :: n
    rate_of = 0.5_real64 + 0.25_real64*modulo((n - 1)*5, waves)
  end function rate_of

  subroutine add(layer, name)
    type(tenon_layer), intent(inout) :: layer
    character(len=*), intent(in) :: name
    call tenon_set_name(layer, name)
    call tenon_layer_sequential_add(network, layer)
    call tenon_destroy(layer)
  end subroutine add

  subroutine add_convolution(in, out, name)
    integer, intent(in) :: in, out
    character(len=*), intent(in) :: name
    type(tenon_layer) :: layer
    call tenon_layer_create_conv(MPI_COMM_WORLD, in, out, [3, 3], layer)
    call tenon_layer_set_padding(layer, [1, 1])
    call add(layer, name)
  end subroutine add_convolution

  subroutine add_tanh(name)
    character(len=*), intent(in) :: name
    type(tenon_layer) :: layer
    call tenon_layer_create_type(MPI_COMM_WORLD, 'tanh', layer)
    call add(layer, name)
  end subroutine add_tanh

  subroutine add_pooling(name)
    character(len=*), intent(in) :: name
    type(tenon_layer) :: layer
    call tenon_layer_create_type(MPI_COMM_WORLD, 'maxpooling', layer)
    call tenon_set_integers(layer, 'kernel', [2, 2])
    call add(layer, name)
  end subroutine add_pooling

  subroutine add_affine(in, out, name)
    integer, intent(in) :: in, out
    character(len=*), intent(in) :: name
    type(tenon_layer) :: layer
    call tenon_layer_create_affine(MPI_COMM_WORLD, in, out, layer)
    call add(layer, name)
  end subroutine add_affine

  subroutine create_network()
    type(tenon_layer) :: layer
    call tenon_layer_create_sequential(MPI_COMM_WORLD, network)
    call add_convolution(1, 8, 'conv1')
    call add_tanh('tanh1')
    call add_pooling('pool1')
    call add_convolution(8, 16, 'conv2')
    call add_tanh('tanh2')
    call add_pooling('pool2')
    call tenon_layer_create_type(MPI_COMM_WORLD, 'flatten', layer)
    call add(layer, 'flatten')
    call add_affine(16*cells/4*cells/4, 256, 'wide')
    call add_tanh('tanh3')
    call add_affine(256, 1, 'rate')
    call tenon_layer_set_data_type(network, TENON_FLOAT64)
  end subroutine create_network

  ! The solver's blocks of rows, with its waves.
  subroutine create_field()
    type(tenon_partition) :: line
    real(real64), pointer :: cell(:, :, :, :)
    integer :: low(4), high(4), i, j, n
    call tenon_partition_create(MPI_COMM_WORLD, [processes], line)
    call tenon_layout_create_sharded(line, [1, waves], 'B', everywhere)
    call tenon_layout_create_sharded(line, [cells, cells, 1, waves], 'S2', field) ! x, y, channel, wave: rows split
    call tenon_destroy(line)
    call tenon_dtensor_create(field, TENON_FLOAT64, u)
    call tenon_dtensor_get_box(u, low, high)
    call tenon_get_array(u, cell)
    do n = 1, waves
      do j = low(2), high(2)
        do i = 1, cells
          cell(i, j, 1, n) = cos(6*real(i - 1, real64)/cells + real(n - 1, real64)) &
            *exp(-rate_of(n)*real(j - 1, real64)/cells)
        end do
      end do
    end do
    call tenon_restore_array(u, cell)
  end subroutine create_field

  ! The plan, by search or from a file; then the network is set up as it says.
  subroutine create_plan()
    character(len=:), allocatable :: file, save_as
    call tenon_options_get_string('load', file, prefix='-')
    call tenon_options_get_string('save', save_as, prefix='-')
    call tenon_plan_create(network, waves, plan)
    call tenon_plan_set_input(plan, 1, field)
    call tenon_plan_set_output(plan, everywhere)
    if (len(file) > 0) call tenon_plan_load(plan, file)
    call tenon_plan_set_up(plan)
    if (len(save_as) > 0) call tenon_plan_save(plan, save_as)
    call tenon_plan_get_layer(plan, planned)
  end subroutine create_plan

  ! With blanks up to a length.
  function padded(text, length)
    character(len=*), intent(in) :: text
    integer, intent(in) :: length
    character(len=:), allocatable :: padded
    padded = text//repeat(' ', max(0, length - len(text)))
  end function padded

  subroutine print_parallelizations()
    character(len=:), allocatable :: name, parallelization
    real(real64) :: layers, channels, space, batch
    integer :: i
    call tenon_plan_get_number(plan, 'layers', layers)
    do i = 1, nint(layers)
      call tenon_plan_get_layer_name(plan, i, name)
      call tenon_plan_get_text(plan, name, 'labels', parallelization)
      call tenon_plan_get_number(plan, 'channel_parts', channels, name)
      call tenon_plan_get_number(plan, 'space_parts', space, name)
      call tenon_plan_get_number(plan, 'batch_parts', batch, name)
      if (rank == 0) print '(3(a, i0))', padded(name, 5)//'  '//padded(parallelization, 6)//'  channels in ', &
        nint(channels), ', space in ', nint(space), ', batch in ', nint(batch)
    end do
  end subroutine print_parallelizations

  ! The loss is the mean of (estimate - r)^2 over the waves.
  subroutine create_training()
    real(real64), pointer :: wanted(:, :)
    integer :: n
    call tenon_layer_create_output(planned, 1, estimate)
    call tenon_layer_create_output_cotangent(planned, 1, cotangent)
    call tenon_layer_create_type(MPI_COMM_WORLD, 'meansquarederror', loss)
    call tenon_layer_set_data_type(loss, TENON_FLOAT64)
    call tenon_layer_set_up(loss, everywhere)
    call tenon_layer_create_output(loss, 1, value)
    call tenon_layer_create_output_cotangent(loss, 1, one)
    call tenon_dtensor_fill_constant(one, merge(1.0_real64, 0.0_real64, rank == 0)) ! contributions of 1
    call tenon_dtensor_create(everywhere, TENON_FLOAT64, rates)
    call tenon_get_array(rates, wanted)
    wanted(1, :) = [(rate_of(n), n=1, waves)]
    call tenon_restore_array(rates, wanted)
    call tenon_layer_set_target(loss, rates)
    call tenon_optimizer_create(planned, 'sgd', optimizer)
    call tenon_optimizer_set_learning_rate(optimizer, 0.01_real64)
  end subroutine create_training

  subroutine train()
    real(real64), pointer :: number(:)
    integer :: step
    do step = 0, steps
      call tenon_layer_apply(planned, u, estimate)
      call tenon_layer_apply(loss, estimate, value)
      if (modulo(step, 10) == 0) then
        call tenon_get_array_read(value, number)
        if (rank == 0) print '(a, i2, a, f8.6)', 'step ', step, ': loss ', number(1)
        call tenon_restore_array_read(value, number)
      end if
      call tenon_layer_apply_adjoint(loss, one, cotangent)
      call tenon_layer_apply_adjoint(planned, cotangent)
      call tenon_optimizer_step(optimizer)
    end do
  end subroutine train

  subroutine destroy()
    call tenon_destroy(cotangent)
    call tenon_destroy(one)
    call tenon_destroy(value)
    call tenon_destroy(estimate)
    call tenon_destroy(rates)
    call tenon_destroy(u)
    call tenon_destroy(optimizer)
    call tenon_destroy(planned)
    call tenon_destroy(plan)
    call tenon_destroy(loss)
    call tenon_destroy(network)
    call tenon_destroy(everywhere)
    call tenon_destroy(field)
  end subroutine destroy
end program planned_network
